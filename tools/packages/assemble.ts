import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundlePackage } from "./bundle.ts";
import { packagesNeeded, type LockEntries } from "./lock-file.ts";
import type { PublishedProgram } from "./published-packages.ts";
import { namedPackages, reachableFiles } from "./reachable-files.ts";

interface RootManifest {
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The package.json files that mark parts of `bin/` as CommonJS. */
const MANIFESTS = ["bin/package.json", "bin/main/package.json"];

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));

/**
 * Creates the folder that npm packs, from `dist/` of the build. It contains the program, its package.json and its
 * README.
 * @returns the path of the folder and the packages that the program imports, which {@link bundleDependencies} adds.
 */
export function assemble(root: string, program: PublishedProgram): { folder: string; imports: readonly string[] } {
  const folder = join(root, "dist", "packages", program.folder);
  rmSync(folder, { recursive: true, force: true });
  const copy = (from: string, to = from): void => {
    if (!existsSync(join(root, from))) return;
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(join(root, from), join(folder, to), { recursive: true });
  };
  const reached = reachableFiles(join(root, "dist"), `bin/${program.program}.js`);
  const inBin = reached.filter((name) => name.startsWith("bin/"));
  for (const name of [...inBin, ...MANIFESTS, ...program.folders]) copy(`dist/${name}`);
  for (const name of program.files) copy(name);
  copy(`tools/packages/${program.folder}.md`, "README.md");
  const { version, license, engines, dependencies } = readJson(join(root, "package.json")) as RootManifest;
  const sources = readdirSync(join(folder, "dist"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(join(folder, "dist", name), "utf8"));
  const imports = namedPackages(sources, Object.keys(dependencies));
  const { packages } = readJson(join(root, "package-lock.json")) as { packages: LockEntries };
  const manifest = {
    name: program.name,
    version,
    description: program.description,
    license,
    type: "module",
    engines,
    bin: { [program.command]: `dist/bin/${program.program}.js` },
    dependencies: Object.fromEntries(imports.map((name) => [name, packages[`node_modules/${name}`]?.version ?? ""])),
    optionalDependencies: packagesNeeded(packages, imports, program.isLeftOut).ofPlatforms,
    bundleDependencies: imports,
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return { folder, imports };
}

/**
 * Copies the installed packages that an assembled program imports into its folder. npm then installs exactly the tested versions and runs
 * no scripts. Only platform-specific packages come from the registry.
 */
export function bundleDependencies(root: string, program: PublishedProgram, imports: readonly string[]): void {
  const { packages } = readJson(join(root, "package-lock.json")) as { packages: LockEntries };
  const folder = join(root, "dist", "packages", program.folder);
  const { paths } = packagesNeeded(packages, imports, program.isLeftOut);
  for (const path of paths) bundlePackage(root, folder, path, program.isLeftOut);
}
