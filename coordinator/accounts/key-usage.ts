import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";

/** Keys remembered; a key that is forgotten is written once more within its interval. */
const MAX_KEYS = 10_000;

/** Writes when a key or a session was last used: at most once in an interval for each. No request waits for it. */
export class KeyUsage {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #write: (keyId: string, atMs: number) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #writtenAtMs = recentMap<number>(MAX_KEYS);
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    clock: Clock,
    write: (keyId: string, atMs: number) => Promise<void>,
    onError: (error: unknown) => void,
    intervalMs = 1_000,
  ) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#write = write;
    this.#onError = onError;
  }

  record(keyId: string): void {
    const nowMs = this.#clock.monotonicMs();
    const writtenAtMs = this.#writtenAtMs.get(keyId);
    if (writtenAtMs !== undefined && nowMs - writtenAtMs < this.#intervalMs) return;
    this.#writtenAtMs.set(keyId, nowMs);
    const written = this.#write(keyId, this.#clock.now())
      .catch(this.#onError)
      .finally(() => this.#underWay.delete(written));
    this.#underWay.add(written);
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
