import type { OutputItem } from "../../../shared/output.ts";
import type { StatusItem } from "../../store/jobs/job-store.ts";

/** Output of one job that readers have and storage does not. The Island gets an acknowledgement once it is stored. */
export class UnstoredOutput {
  #startedAtMs: number | null = null;
  #items: (OutputItem | StatusItem)[] = [];
  #seq: number | null = null;
  #bytes = 0;
  #stored: PromiseWithResolvers<void> | null = null;

  get count(): number {
    return this.#items.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get hasOutput(): boolean {
    return this.#seq !== null;
  }

  start(atMs: number): void {
    this.#startedAtMs = atMs;
  }

  /** Adds a status item. It is stored with the next output: no acknowledgement waits for it. */
  announce(status: StatusItem): void {
    // `push` on an empty array would allocate 17 slots in each of 100,000 waiting jobs.
    if (this.#items.length === 0) this.#items = [status];
    else this.#items.push(status);
  }

  /** Adds the output of frame `seq`. All output that is stored together shares one promise. */
  add(seq: number, items: readonly OutputItem[], bytes: number): Promise<void> {
    for (const item of items) this.#items.push(item);
    this.#seq = seq;
    this.#bytes += bytes;
    this.#stored ??= Promise.withResolvers();
    return this.#stored.promise;
  }

  /** Takes the start of the attempt (ms since the epoch), which the caller stores now; null if it is already stored. */
  takeStart(): number | null {
    const atMs = this.#startedAtMs;
    this.#startedAtMs = null;
    return atMs;
  }

  /**
   * Takes all items. The caller stores them now, and resolves `stored` when they are durable. `seq`: number of the last
   * frame among them; null without output.
   */
  take(): {
    readonly items: readonly (OutputItem | StatusItem)[];
    readonly seq: number | null;
    readonly stored: PromiseWithResolvers<void> | null;
  } {
    const gathered = { items: this.#items, seq: this.#seq, stored: this.#stored };
    this.#items = [];
    this.#seq = null;
    this.#bytes = 0;
    this.#stored = null;
    return gathered;
  }
}
