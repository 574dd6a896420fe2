import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, rmdirSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether tests can mount a disk, which needs root on Linux. */
export const CAN_MOUNT = process.platform === "linux" && process.getuid?.() === 0;

/** A disk in memory that a test can fill. */
export class SmallDisk implements Disposable {
  readonly path: string;

  /** @param path an empty folder. Default: a new one. */
  constructor(bytes: number, path: string = mkdtempSync(join(tmpdir(), "atoll-disk-"))) {
    this.path = path;
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path]);
  }

  /** Fills all remaining space. */
  fill(): void {
    const file = openSync(this.#ballast, "a");
    // Fills the last bytes as well, so that no page of the database fits.
    for (const block of [Buffer.alloc(65_536), Buffer.alloc(512), Buffer.alloc(1)]) {
      try {
        for (;;) writeSync(file, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
    closeSync(file);
  }

  /** Frees the space. */
  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  [Symbol.dispose](): void {
    execFileSync("umount", ["--lazy", this.path]);
    rmdirSync(this.path);
  }

  get #ballast(): string {
    return join(this.path, "ballast");
  }
}
