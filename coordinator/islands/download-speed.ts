import type { SchedulerIsland } from "../scheduler/events.ts";

/** Minimum time between two measurements: reports may arrive together. */
const MIN_INTERVAL_MS = 1_000;
/** Maximum plausible speed, 10 Gbit/s: the progress is the Island's own report. */
const MAX_BYTES_PER_MS = 1_250_000;
/** Weight of the newest measurement in the moving average. */
const NEWEST = 0.3;

/** Measures the downloads of one host, from their reported progress and the coordinator's clock. */
export class DownloadSpeed {
  /** Moving average of all downloads together; undefined before the first measurement. */
  bytesPerMs: number | undefined = undefined;
  #fractions: ReadonlyMap<string, number> = new Map();
  #atMs = -Infinity;

  /** @param sizeOf Returns the bytes of a Cargo's model; null if unknown. */
  note(downloads: SchedulerIsland["downloads"], sizeOf: (slug: string) => number | null, nowMs: number): void {
    const elapsedMs = nowMs - this.#atMs;
    if (elapsedMs < MIN_INTERVAL_MS) return;
    const fractions = new Map<string, number>();
    let bytes = 0;
    for (const { slug, fraction } of downloads) {
      if (fraction === null) continue;
      const before = this.#fractions.get(slug) ?? fraction;
      bytes += Math.max(0, fraction - before) * (sizeOf(slug) ?? 0);
      fractions.set(slug, fraction);
    }
    this.#fractions = fractions;
    this.#atMs = nowMs;
    if (bytes === 0) return;
    const newest = Math.min(MAX_BYTES_PER_MS, bytes / elapsedMs);
    this.bytesPerMs = this.bytesPerMs === undefined ? newest : this.bytesPerMs + NEWEST * (newest - this.bytesPerMs);
  }
}
