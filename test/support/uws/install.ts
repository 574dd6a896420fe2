import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { allowOlderGlibc } from "./older-glibc.ts";

/*
 * Installs the library of the transport uws for its tests and its bench. The library is a repackaged release from the
 * npm registry, whose binaries need glibc 2.38. Operators install the official release: docs/operate/install.md.
 */
const folder = import.meta.dirname;
const library = join(folder, "node_modules", "uwebsockets");
execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" });
if (process.platform === "linux") {
  allowOlderGlibc(join(library, `uws_linux_${process.arch}_${process.versions.modules}.node`));
}
createRequire(import.meta.url)(library);
