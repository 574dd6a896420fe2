import { spawnSync } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..", "..");

function git(...args: string[]): { readonly isDone: boolean; readonly stdout: Buffer } {
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, maxBuffer: 2 ** 30 });
  return { isDone: status === 0, stdout };
}

/** Returns whether the commit exists and has the file. A shallow clone has no older commits. */
export function hasFileAt(commit: string, path: string): boolean {
  return git("cat-file", "-e", `${commit}:${path}`).isDone;
}

/** Returns the parent of the last commit that added `text` to the file or removed it. */
export function commitBefore(text: string, path: string): string {
  return `${git("log", "-1", "--format=%H", `-S${text}`, "--", path).stdout.toString().trim()}~1`;
}

/** A checkout of an older commit that uses the installed packages of this commit. */
export class OlderVersion implements AsyncDisposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(commit: string): Promise<OlderVersion> {
    const folder = await mkdtemp(join(tmpdir(), "atoll-older-"));
    spawnSync("tar", ["-x", "-C", folder], { input: git("archive", commit).stdout });
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "dir");
    return new OlderVersion(folder);
  }

  /** Path of its `bin/coordinator.ts`. */
  get program(): string {
    return join(this.#folder, "bin", "coordinator.ts");
  }

  /** Path of its client for TypeScript. */
  get client(): string {
    return join(this.#folder, "sdk", "typescript", "src", "index.ts");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
