import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { runDirectory } from "../support/run-directory.ts";

const run = promisify(execFile);
export const SDK = join(import.meta.dirname, "..", "..", "sdk", "typescript");
/** Compiler of the package: TypeScript 5. */
export const TSC = join(SDK, "node_modules", "typescript", "bin", "tsc");

/** The package installed in a separate project: `directory`/node_modules/@atoll/client. */
export class BuiltPackage implements AsyncDisposable {
  readonly directory: string;
  readonly installed: string;

  private constructor(directory: string) {
    this.directory = directory;
    this.installed = join(directory, "node_modules", "@atoll", "client");
  }

  static async build(): Promise<BuiltPackage> {
    const built = new BuiltPackage(await mkdtemp(join(tmpdir(), "atoll-sdk-")));
    try {
      await mkdir(built.installed, { recursive: true });
      await cp(join(SDK, "package.json"), join(built.installed, "package.json"));
      await cp(await compiled(), join(built.installed, "dist"), { recursive: true });
      return built;
    } catch (error) {
      await built[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs Node.js in the project. @throws with its output if it exits with another code than 0. */
  node(args: readonly string[], env: Readonly<Record<string, string>> = {}, executable?: string): Promise<string> {
    return runNode(args, this.directory, env, executable);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

async function runNode(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  executable: string = process.execPath,
): Promise<string> {
  try {
    const { stdout } = await run(executable, args, {
      cwd,
      env: { PATH: process.env["PATH"], NODE_NO_WARNINGS: "1", ...env },
    });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${args.join(" ")}:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Returns the package's `dist`, which the first worker of this run builds. */
async function compiled(): Promise<string> {
  const dist = join(runDirectory(), "client-dist");
  const lock = `${dist}.lock`;
  while (!existsSync(dist)) {
    try {
      await mkdir(lock);
    } catch {
      // Another worker is compiling.
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    try {
      if (existsSync(dist)) break;
      await runNode([TSC, "-p", SDK, "--outDir", `${dist}.partial`], SDK);
      await rename(`${dist}.partial`, dist);
    } finally {
      await rmdir(lock);
    }
  }
  return dist;
}
