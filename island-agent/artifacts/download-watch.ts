import type { Clock } from "../../shared/clock.ts";
import { formatAge } from "../../shared/cli/format-age.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import type { Logger } from "../../shared/logger.ts";
import type { DownloadProgress } from "../models/download/transfer.ts";
import { describeDownload } from "./describe-download.ts";

/** Window of the speed measurement. */
const WINDOW_MS = 10_000;
/** Minimum time for a speed measurement. */
const SAMPLE_MS = 500;
/** Minimum time between two log lines of a download. For a download of unknown size, `UNSIZED_LOG_MS` applies. */
const LOG_MS = 10_000;
const UNSIZED_LOG_MS = 60_000;
/** Minimum progress between two log lines, as a share of the total. */
const LOG_SHARE = 0.1;
const MS_PER_S = 1_000;

/** Tracks the downloads of Cargos for the owner: their speed, and log lines. */
export function openDownloadWatch(clock: Pick<Clock, "monotonicMs">, log: Pick<Logger, "info">) {
  const watched = new Set<WatchedDownload>();

  /** Runs work that may download files for a Cargo, and tracks the progress that it reports. */
  async function follow<T>(
    slug: string,
    download: (note: (progress: DownloadProgress) => void) => Promise<T>,
  ): Promise<T> {
    const tracked = new WatchedDownload(slug, clock, log);
    watched.add(tracked);
    try {
      const result = await download((progress) => tracked.note(progress));
      tracked.complete();
      return result;
    } catch (error) {
      tracked.interrupt(error);
      throw error;
    } finally {
      watched.delete(tracked);
    }
  }

  /** Returns null while the speed is unknown. */
  function bytesPerSecond(slug: string): number | null {
    const rates = [...watched].map((each) => (each.slug === slug ? each.bytesPerSecond : null));
    return rates.findLast((rate) => rate !== null) ?? null;
  }

  return { follow, bytesPerSecond };
}

export type DownloadWatch = ReturnType<typeof openDownloadWatch>;

/** A tracked download. Files that are already on disk report no missing bytes, and are not logged. */
class WatchedDownload {
  readonly slug: string;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #log: Pick<Logger, "info">;
  readonly #samples: { readonly atMs: number; readonly bytes: number }[] = [];
  #progress: DownloadProgress | null = null;
  #beganMs: number | null = null;
  #logged = { atMs: 0, bytes: 0 };

  constructor(slug: string, clock: Pick<Clock, "monotonicMs">, log: Pick<Logger, "info">) {
    this.slug = slug;
    this.#clock = clock;
    this.#log = log;
  }

  get bytesPerSecond(): number | null {
    if (this.#progress === null) return null;
    const nowMs = this.#clock.monotonicMs();
    this.#forgetBefore(nowMs - WINDOW_MS);
    const [first] = this.#samples;
    if (first === undefined || nowMs - first.atMs < SAMPLE_MS) return null;
    return Math.round(((this.#progress.receivedBytes - first.bytes) * MS_PER_S) / (nowMs - first.atMs));
  }

  note(progress: DownloadProgress): void {
    const nowMs = this.#clock.monotonicMs();
    // A smaller number belongs to another file, or to a restarted download.
    const isFromDisk = progress.isFromDisk === true;
    if (isFromDisk || progress.receivedBytes < (this.#progress?.receivedBytes ?? 0)) this.#samples.length = 0;
    this.#progress = progress;
    if (isFromDisk) return;
    const last = this.#samples.at(-1);
    if (last === undefined || nowMs - last.atMs >= SAMPLE_MS) {
      this.#samples.push({ atMs: nowMs, bytes: progress.receivedBytes });
      this.#forgetBefore(nowMs - WINDOW_MS);
    }
    this.#logProgress(progress, nowMs);
  }

  complete(): void {
    if (this.#beganMs === null) return;
    const took = formatAge(this.#clock.monotonicMs() - this.#beganMs);
    this.#log.info({ ...this.#facts(), size: formatBytes(this.#progress?.receivedBytes ?? 0), took }, "Downloaded");
  }

  interrupt(error: unknown): void {
    if (this.#beganMs === null) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.info({ ...this.#facts(), progress: this.#describe(), reason }, "Download interrupted");
  }

  #logProgress({ receivedBytes, totalBytes }: DownloadProgress, nowMs: number): void {
    if (receivedBytes === totalBytes) return;
    if (this.#beganMs === null) {
      this.#beganMs = nowMs;
      this.#log.info({ ...this.#facts(), progress: this.#describe() }, "Download started");
    } else {
      const gained = receivedBytes - this.#logged.bytes;
      if (nowMs - this.#logged.atMs < (totalBytes === null ? UNSIZED_LOG_MS : LOG_MS)) return;
      if (totalBytes !== null && Math.abs(gained) < totalBytes * LOG_SHARE) return;
      this.#log.info({ ...this.#facts(), progress: this.#describe() }, "Downloading");
    }
    this.#logged = { atMs: nowMs, bytes: receivedBytes };
  }

  #facts(): { cargo: string } {
    return { cargo: this.slug };
  }

  #describe(): string {
    return describeDownload({ ...this.#progress, bytesPerSecond: this.bytesPerSecond });
  }

  /** Keeps the most recent sample before that time. */
  #forgetBefore(atMs: number): void {
    while ((this.#samples[1]?.atMs ?? Infinity) <= atMs) this.#samples.shift();
  }
}
