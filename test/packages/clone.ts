import { execFile } from "node:child_process";
import { cp, lstat, mkdir, readdir, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");
const LEFT = new Set(["node_modules", "dist", ".git", "test", "bench"]);
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

/** Copies the repository like a fresh clone, without build output but with installed packages. @returns its folder. */
export async function cloneInto(folder: string): Promise<string> {
  const clone = join(folder, "clone");
  await mkdir(clone);
  for (const name of await readdir(ROOT)) {
    const filter = (source: string): boolean => basename(source) !== "dist";
    if (!LEFT.has(name)) await cp(join(ROOT, name), join(clone, name), { recursive: true, filter });
  }
  await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"), "junction");
  return clone;
}

/** Returns the environment of a user with Node.js 24 and npm. */
export function freshEnvironment(folder: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { HOME } = process.env;
  return {
    PATH: [
      join(folder, "home", ".local", "bin"),
      join(process.execPath, ".."),
      "/usr/local/bin:/usr/bin:/bin:/usr/sbin",
    ].join(":"),
    HOME: join(folder, "home"),
    // Settings for access to the registry.
    NPM_CONFIG_GLOBALCONFIG: process.env["npm_config_globalconfig"] ?? "",
    NPM_CONFIG_PREFIX: join(folder, "home", ".local"),
    // Uses npm's cache.
    NPM_CONFIG_CACHE: process.env["npm_config_cache"] ?? `${HOME}/.npm`,
    ...more,
  };
}

/** Runs npm. @throws with its output if it fails. */
export async function npm(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const cli = process.env["npm_execpath"];
  const [program, ...words] = cli === undefined ? ["npm", ...args] : [process.execPath, cli, ...args];
  const { stdout, stderr } = await run(program ?? "", words, { cwd, env, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout + stderr;
}

/** Returns the total size of a folder's files, like `du --apparent-size`. */
export async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (file) => (await lstat(join(file.parentPath, file.name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
