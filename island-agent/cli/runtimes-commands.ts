import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "../../shared/errors.ts";
import { ADDED_BACK_ENDS, backEndFolder, backEndsFolder, packagesOf } from "../runtimes/llmcpp/back-ends.ts";

/** Island on which the commands work, and its machine as Node.js names it. */
export interface BackEndsLocation {
  readonly dataDirectory: string;
  readonly platform: string;
  readonly arch: string;
}

interface BackEnd {
  readonly name: string;
  /** `outdated`: built for the llama.cpp of another version of the agent. */
  readonly state: "installed" | "outdated" | "not installed";
  readonly packages: readonly string[];
}

/** Runs npm in a folder, with its output for the user. Resolves to its exit code; rejects if npm is not installed. */
export type Npm = (args: readonly string[], folder: string) => Promise<number>;

/** Returns the back ends that exist for this machine's platform. */
export async function listBackEnds(location: BackEndsLocation): Promise<BackEnd[]> {
  const names = Object.keys(ADDED_BACK_ENDS[`${location.platform}-${location.arch}`] ?? {});
  const folders = await readdir(backEndsFolder(location.dataDirectory)).catch(() => []);
  return Promise.all(
    names.map(async (name) => {
      const packages = packagesOf(location.platform, location.arch, name) ?? [];
      if (await isInstalled(folderOf(location), packages)) return { name, state: "installed" as const, packages };
      const others = folders.map((each) => join(backEndsFolder(location.dataDirectory), each));
      const found = await Promise.all(others.map((each) => isInstalled(each, packages)));
      return { name, state: found.includes(true) ? ("outdated" as const) : ("not installed" as const), packages };
    }),
  );
}

export function describeBackEnds(backEnds: readonly BackEnd[]): string {
  if (backEnds.length === 0) return "No back ends to add for this platform: the agent includes all of them";
  const hint = {
    installed: "",
    outdated: "; to install it for this version: island runtimes add NAME",
    "not installed": "",
  };
  return backEnds.map(({ name, state }) => `${name.padEnd(8)}${state}${hint[state].replace("NAME", name)}`).join("\n");
}

/**
 * Runs `island runtimes add`: npm installs the back end's packages in the version of the agent, without running
 * scripts. Packages of other versions are deleted.
 * @returns a line for the user.
 * @throws {CliError}
 */
export async function addBackEnd(location: BackEndsLocation, name: string, npm: Npm): Promise<string> {
  const packages = requirePackages(location, name);
  const folder = folderOf(location);
  const version = folder.slice(folder.lastIndexOf("-") + 1);
  await mkdir(folder, { recursive: true });
  for (const each of await readdir(backEndsFolder(location.dataDirectory))) {
    const path = join(backEndsFolder(location.dataDirectory), each);
    if (path !== folder) await rm(path, { recursive: true });
  }
  await writeFile(join(folder, "package.json"), '{ "private": true }\n', { flag: "wx" }).catch(() => undefined);
  const wanted = packages.map((each) => `${each}@${version}`);
  const code = await npm(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", ...wanted], folder);
  if (code !== 0 || !(await isInstalled(folder, packages))) {
    throw new CliError(`npm could not install ${wanted.join(" and ")} into ${folder}. See the output of npm above`);
  }
  return `Added ${name}. Restart the agent to use it. To check that it works: island doctor`;
}

/** Runs `island runtimes remove`. @returns a line for the user. @throws {CliError} if it is not installed. */
export async function removeBackEnd(location: BackEndsLocation, name: string): Promise<string> {
  const packages = requirePackages(location, name);
  const folders = await readdir(backEndsFolder(location.dataDirectory)).catch(() => []);
  let removed = 0;
  for (const folder of folders.map((each) => join(backEndsFolder(location.dataDirectory), each))) {
    if (!(await isInstalled(folder, packages))) continue;
    for (const each of packages) await rm(join(folder, "node_modules", each), { recursive: true });
    removed += 1;
  }
  if (removed === 0)
    throw new CliError(
      `${name} is not installed in ${location.dataDirectory}. List the back ends with: island runtimes list`,
    );
  return `Removed ${name}. A running agent uses it until its next start`;
}

/** @throws {CliError} */
function requirePackages({ platform, arch }: BackEndsLocation, name: string): readonly string[] {
  const packages = packagesOf(platform, arch, name);
  if (packages !== undefined) return packages;
  const names = Object.keys(ADDED_BACK_ENDS[`${platform}-${arch}`] ?? {});
  const choices = names.length === 0 ? "this platform has none" : `must be ${names.join(" or ")}`;
  throw new CliError(`No back end ${JSON.stringify(name)} for ${platform}-${arch}: ${choices}`);
}

/** @throws {CliError} */
function folderOf({ dataDirectory }: BackEndsLocation): string {
  const folder = backEndFolder(dataDirectory);
  if (folder === null)
    throw new CliError("node-llama-cpp is not installed. Install the agent again with its optional dependencies");
  return folder;
}

async function isInstalled(folder: string, packages: readonly string[]): Promise<boolean> {
  const paths = packages.map((each) => join(folder, "node_modules", each, "package.json"));
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.every(Boolean);
}

/** Returns a function that runs this machine's npm. */
export function runNpm(env: Readonly<Record<string, string | undefined>>): Npm {
  return async (args, folder) => {
    // On Windows npm is a shell script. The arguments are fixed and contain no spaces. Standard output is reserved for
    // the result.
    const child = spawn("npm", args, {
      cwd: folder,
      env,
      stdio: ["ignore", 2, 2],
      shell: process.platform === "win32",
    });
    try {
      const [code] = (await once(child, "close")) as [number | null];
      return code ?? 1;
    } catch (cause) {
      throw new CliError("npm was not found. Install it with Node.js (Debian: apt install npm)", { cause });
    }
  };
}
