import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { assemble, bundleDependencies } from "./packages/assemble.ts";
import { COORDINATOR, ISLAND } from "./packages/published-packages.ts";

/**
 * Packs `@atoll/coordinator`, `@atoll/island` and `@atoll/client` into `dist/`. Run it with `npm run packages` and the
 * pinned version of Node.js. Its arguments are passed to the compiler.
 */
const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const client = join(root, "sdk", "typescript");

runNode([join(root, "tools", "build.ts"), ...process.argv.slice(2)]);
for (const program of [COORDINATOR, ISLAND]) {
  const { folder, imports } = assemble(root, program);
  bundleDependencies(root, program, imports);
  pack(folder);
}
runNode([join(client, "node_modules", "typescript", "bin", "tsc"), "-p", client]);
pack(client);
process.stdout
  .write(`They are in ${dist}. To offer the agent and the client to hosts and programs, copy their files into the folder
downloads of the coordinator's data directory: docs/operate/install.md, "Offer packages to hosts and clients"
`);

function pack(folder: string): void {
  runNpm(["pack", "--offline", "--ignore-scripts", "--silent", "--pack-destination", dist], folder);
}

/** Runs npm, even if `npm` is a script that cannot be spawned. */
function runNpm(args: readonly string[], cwd: string): void {
  // oxlint-disable-next-line no-restricted-properties -- npm gives its scripts its own path in this variable
  const cli = process.env["npm_execpath"];
  if (cli === undefined) throw new Error("npm_execpath is not set. Run this script with: npm run packages");
  runNode([cli, ...args], cwd);
}

/** Runs Node.js. @throws {Error} if it fails. */
function runNode(args: readonly string[], cwd = root): void {
  const { status } = spawnSync(process.execPath, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
}
