import { statfs } from "node:fs/promises";
import type { Clock, Timer } from "../../../../shared/clock.ts";
import { formatMibRoundedDown } from "../../../../shared/format-bytes.ts";

const READ_EVERY_MS = 2_000;

/** Reads how much space the disk of a folder has, again and again, until it is closed. */
export class DiskSpace {
  readonly #folder: string;
  readonly #minFreeBytes: number;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #onRead: (tooLittleBecause: string | null) => void;
  #timer: Timer | null = null;
  #isClosed = false;

  /** @param onRead told what is wrong when less than `minFreeBytes` are free, else null. */
  constructor(
    folder: string,
    minFreeBytes: number,
    clock: Pick<Clock, "schedule">,
    onRead: (tooLittleBecause: string | null) => void,
  ) {
    this.#folder = folder;
    this.#minFreeBytes = minFreeBytes;
    this.#clock = clock;
    this.#onRead = onRead;
  }

  /** Reads now and then every 2 s. */
  async watch(): Promise<void> {
    const freeBytes = await statfs(this.#folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      // A disk that does not answer is found by the next write.
      () => Infinity,
    );
    if (this.#isClosed) return;
    const free = formatMibRoundedDown(freeBytes);
    const isEnough = freeBytes >= this.#minFreeBytes;
    this.#onRead(isEnough ? null : `the disk of ${this.#folder} has only ${free} left (setting min_free_disk_mb)`);
    this.#timer = this.#clock.schedule(READ_EVERY_MS, () => void this.watch());
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }
}
