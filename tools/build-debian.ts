import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { COORDINATOR, ISLAND, type PublishedProgram } from "./packages/published-packages.ts";
import { pruneForeign } from "./packages/prune-foreign.ts";

/**
 * Builds a Debian package of each program from its npm package, with the running Node.js:
 * `dist/deb/atoll-coordinator_<version>_amd64.deb`. Run it with `npm run packages:debian`, after `npm run packages`, on
 * a machine of the target platform. With `-- --installed PREFIX` it uses the packages that npm has installed under
 * PREFIX (`npm install --global --prefix PREFIX`).
 */
const { installed } = parseArgs({ options: { installed: { type: "string" } } }).values;
const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const architecture = arch() === "x64" ? "amd64" : arch();
/** Dependencies of the programs on Debian 12, Ubuntu 22.04 or later. */
const DEBIAN_DEPENDENCIES = "libc6 (>= 2.35), libstdc++6, adduser, util-linux";
const RECOMMENDS: Readonly<Record<string, string>> = { "atoll-island": "bubblewrap (>= 0.7)" };
/** The folder of docs/ that each package contains. */
const PAGES: Readonly<Record<string, string>> = { "atoll-coordinator": "operate", "atoll-island": "host" };

mkdirSync(join(dist, "deb"), { recursive: true });
for (const program of [COORDINATOR, ISLAND]) buildDebian(program, `atoll-${program.folder}`);

function buildDebian(program: PublishedProgram, name: string): void {
  const source = join(root, "deploy", "debian", name);
  const staging = join(dist, "debian", name);
  rmSync(staging, { recursive: true, force: true });
  const folder = (...path: string[]): string => {
    const made = join(staging, ...path);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const library = folder("usr", "lib", name);
  if (installed === undefined) installNpmPackage(join(dist, `${name}-${version}.tgz`), library);
  else copyInstalled(installed, program, library);
  pruneForeign(join(library, "lib", "node_modules", program.name, "node_modules"), process.platform, arch());
  copyFileSync(process.execPath, join(library, "bin", "node"));
  chmodSync(join(library, "bin", "node"), 0o755);
  copyFileSync(join(root, "deploy", "debian", "health.mjs"), join(library, "health.mjs"));
  copyFileSync(join(source, program.command), join(folder("usr", "bin"), program.command));
  copyFileSync(join(source, `${name}.service`), join(folder("usr", "lib", "systemd", "system"), `${name}.service`));
  copyFileSync(join(source, "default"), join(folder("etc", "default"), name));
  const documents = folder("usr", "share", "doc", name);
  copyFileSync(join(root, "LICENSE"), join(documents, "copyright"));
  cpSync(join(root, "docs", PAGES[name] ?? ""), documents, { recursive: true });
  const control = folder("DEBIAN");
  for (const script of ["postinst", "prerm", "postrm"]) cpSync(join(source, script), join(control, script));
  writeFileSync(join(control, "conffiles"), `/etc/default/${name}\n`);
  writeFileSync(join(control, "control"), controlFile(program, name));
  // A fast compression method that Debian 12 and Ubuntu 22.04 support.
  run("dpkg-deb", [
    "--root-owner-group",
    "-Zzstd",
    "-z3",
    "--build",
    staging,
    join(dist, "deb", `${name}_${version}_${architecture}.deb`),
  ]);
}

function controlFile({ description }: PublishedProgram, name: string): string {
  const recommends = RECOMMENDS[name];
  return [
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    "Maintainer: Atoll <atoll@localhost>",
    `Depends: ${DEBIAN_DEPENDENCIES}`,
    ...(recommends === undefined ? [] : [`Recommends: ${recommends}`]),
    "Section: net",
    "Priority: optional",
    `Description: ${description}`,
    " It brings its own Node.js, and a systemd service.",
    "",
  ].join("\n");
}

/** Copies the installed package and the link that starts its program. */
function copyInstalled(prefix: string, program: PublishedProgram, library: string): void {
  for (const path of [join("lib", "node_modules", program.name), join("bin", program.command)])
    cpSync(join(prefix, path), join(library, path), { recursive: true, verbatimSymlinks: true });
}

/** Installs a package as `npm install --global` does. */
function installNpmPackage(tarball: string, prefix: string): void {
  // oxlint-disable-next-line no-restricted-properties -- npm gives its scripts its own path in this variable
  const cli = process.env["npm_execpath"];
  if (cli === undefined) throw new Error("npm_execpath is not set. Run this script with: npm run packages:debian");
  run(process.execPath, [
    cli,
    "install",
    "--global",
    "--prefix",
    prefix,
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    tarball,
  ]);
}

/** Runs a program. @throws {Error} if it fails. */
function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { cwd: dist, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${error?.message ?? status}`);
}
