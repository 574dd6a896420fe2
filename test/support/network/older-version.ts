import { spawnSync } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..", "..");

function git(...args: string[]): { readonly isDone: boolean; readonly stdout: Buffer } {
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, maxBuffer: 2 ** 30 });
  return { isDone: status === 0, stdout };
}

/** Whether the commit is there and has the file; a shallow clone has no older ones. */
export function hasFileAt(commit: string, path: string): boolean {
  return git("cat-file", "-e", `${commit}:${path}`).isDone;
}

/** The commit before the last one that added `text` to the file, or removed it. */
export function commitBefore(text: string, path: string): string {
  return `${git("log", "-1", "--format=%H", `-S${text}`, "--", path).stdout.toString().trim()}~1`;
}

/** The program of an older commit, with the packages that are installed here. */
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

  /** Its `coordinator`. */
  get program(): string {
    return join(this.#folder, "bin", "coordinator.ts");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
