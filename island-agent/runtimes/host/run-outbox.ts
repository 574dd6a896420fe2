import type { Clock, Timer } from "../../../shared/clock.ts";
import { charsOf, isModelItem, type OutputItem } from "../../../shared/output.ts";
import type { FromHost, RunOutput } from "./host-protocol.ts";

/** Output above this size is sent before the tick ends, which limits the message length. */
const MAX_PENDING_CHARS = 4_000_000;

/** Time for which output after the first is gathered into one message. Readers do not notice it. */
const GATHER_MS = 4;

/** Sends the output of all runs as few messages. The first output of a run is not delayed, and never by an end. */
export class RunOutbox {
  readonly #clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly #send: (message: FromHost) => boolean;
  #pending = new Map<number, OutputItem[]>();
  #pendingChars = 0;
  /** Runs with earlier output. */
  readonly #begun = new Set<number>();
  /** Monotonic time of the last message. */
  #sentMs = -Infinity;
  #timer: Timer | null = null;

  constructor(clock: Pick<Clock, "monotonicMs" | "schedule">, send: (message: FromHost) => boolean) {
    this.#clock = clock;
    this.#send = send;
  }

  add(run: number, item: OutputItem): void {
    if (!this.#begun.has(run)) {
      this.#begun.add(run);
      setImmediate(() => this.#flush());
    } else if (this.#pending.size === 0) {
      const leftMs = this.#sentMs + GATHER_MS - this.#clock.monotonicMs();
      if (leftMs > 0) this.#timer = this.#clock.schedule(leftMs, () => this.#flush());
      else setImmediate(() => this.#flush());
    }
    const items = this.#pending.get(run);
    if (items === undefined) this.#pending.set(run, [item]);
    else items.push(item);
    this.#pendingChars += sizeOf(item);
    if (this.#pendingChars > MAX_PENDING_CHARS) this.#flush();
  }

  /** Sends `message` after all earlier output, so that no end overtakes text. False if it is too long. */
  end(message: FromHost): boolean {
    this.#flush();
    if ("run" in message) this.#begun.delete(message.run);
    return this.#send(message);
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#pending.size === 0) return;
    this.#sentMs = this.#clock.monotonicMs();
    const outputs = Array.from(this.#pending, ([run, items]): RunOutput => ({ run, items }));
    this.#pending = new Map();
    this.#pendingChars = 0;
    this.#send({ kind: "output", outputs });
  }
}

function sizeOf(item: OutputItem): number {
  if (isModelItem(item)) return charsOf(item);
  return item.type === "image" ? item.data.length : 0;
}
