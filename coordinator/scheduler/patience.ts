/**
 * How long a job waits for a better Island of another coordinator before it goes back to one that it avoids: those with free slots ask
 * for it within this time.
 */
export const PATIENCE_MS = 1_000;

/** Jobs that do not go back to Islands that they avoid yet, while other coordinators may have better ones. */
export class Patience {
  /** When each ends, by job id; the next to end first, as all are equally patient. */
  readonly #untilMs = new Map<string, number>();

  /** When the next one ends; null without any. */
  get nextEndMs(): number | null {
    for (const untilMs of this.#untilMs.values()) return untilMs;
    return null;
  }

  has(jobId: string): boolean {
    return this.#untilMs.has(jobId);
  }

  begin(jobId: string, nowMs: number): void {
    this.#untilMs.set(jobId, nowMs + PATIENCE_MS);
  }

  /** Unknown ids are ignored. */
  end(jobId: string): void {
    this.#untilMs.delete(jobId);
  }

  /** The jobs whose patience has ended, once. */
  takeEnded(nowMs: number): string[] {
    const ended: string[] = [];
    for (const [jobId, untilMs] of this.#untilMs) {
      if (untilMs > nowMs) break;
      ended.push(jobId);
    }
    for (const jobId of ended) this.#untilMs.delete(jobId);
    return ended;
  }
}
