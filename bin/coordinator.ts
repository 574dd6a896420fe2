#!/usr/bin/env node
// This file is CommonJS without new syntax, so that an old Node.js can print the message about the required version.
if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(
    "Atoll requires Node.js 24 or newer; this is " +
      process.version +
      " (" +
      process.execPath +
      (process.platform === "win32"
        ? "). Install it from https://nodejs.org, and run this command again in a new terminal."
        : // Without --prefix, npm refuses to replace the Node.js that it came with.
          "). Install it for your user with\n" +
          '  npm install --global --prefix ~/.local node@24 && export PATH="$HOME/.local/bin:$PATH"\n' +
          "and run this command again. Add the export to ~/.profile, so that new terminals find it."),
  );
  process.exit(1);
}
// A signal before the start exits with 0, because there is nothing to save yet. The program replaces these listeners
// once it runs.
if (process.argv[2] === "serve") {
  process.on("SIGTERM", () => process.exit(0));
  process.on("SIGINT", () => process.exit(0));
}
void import("./main/coordinator.ts");
