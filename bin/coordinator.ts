#!/usr/bin/env node
// CommonJS without new syntax, so that an old Node.js gets as far as the message about the version it needs.
if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(
    "Atoll needs Node.js 24 or newer; this is " +
      process.version +
      ". Inside the repository, npm run and npx use the right one.",
  );
  process.exit(1);
}
void import("./main/coordinator.ts");
