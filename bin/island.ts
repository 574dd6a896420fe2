#!/usr/bin/env node
// CommonJS without new syntax, so that an old Node.js gets as far as the message about the version it needs.
if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(
    "Atoll needs Node.js 24 or newer; this is " +
      process.version +
      " (" +
      process.execPath +
      (process.platform === "win32"
        ? "). Install it from https://nodejs.org, and run this command again in a new terminal."
        : // Without a prefix of its own, npm would not replace the node beside it.
          "). Get it for your user with\n" +
          '  npm install --global --prefix ~/.local node@24 && export PATH="$HOME/.local/bin:$PATH" npm_config_prefix="$HOME/.local"\n' +
          // Its second variable: npm takes the folder of this Node.js for that of packages, whose commands no PATH has.
          "and run this command again. New terminals need the second half too: add it to ~/.profile."),
  );
  process.exit(1);
}
// What is stopped before it has started ends well: nothing is lost, and the program sets its own listeners as soon as it runs.
if (process.argv[2] === "start") {
  process.on("SIGTERM", () => process.exit(0));
  process.on("SIGINT", () => process.exit(0));
}
void import("./main/island.ts");
