#!/usr/bin/env node
// CommonJS without a line that an old Node cannot read, so that it can be told which one is needed.
if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(
    "Atoll needs Node.js 24 or newer; this is " +
      process.version +
      ". Inside the repository, npm run and npx use the right one.",
  );
  process.exit(1);
}
void import("./main/coordinator.ts");
