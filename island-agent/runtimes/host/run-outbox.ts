import { charsOf, isModelItem, type OutputItem } from "../../../shared/output.ts";
import type { FromHost, RunOutput } from "./host-protocol.ts";

/** Output above this size is sent before the tick ends, which limits the message length. */
const MAX_PENDING_CHARS = 4_000_000;

/** Sends the output of all runs from one tick of the event loop as one message. */
export class RunOutbox {
  readonly #send: (message: FromHost) => boolean;
  #pending = new Map<number, OutputItem[]>();
  #pendingChars = 0;

  constructor(send: (message: FromHost) => boolean) {
    this.#send = send;
  }

  add(run: number, item: OutputItem): void {
    if (this.#pending.size === 0) setImmediate(() => this.#flush());
    const items = this.#pending.get(run);
    if (items === undefined) this.#pending.set(run, [item]);
    else items.push(item);
    this.#pendingChars += sizeOf(item);
    if (this.#pendingChars > MAX_PENDING_CHARS) this.#flush();
  }

  /** Sends `message` after all earlier output, so that no end overtakes text. False if it is too long. */
  end(message: FromHost): boolean {
    this.#flush();
    return this.#send(message);
  }

  #flush(): void {
    if (this.#pending.size === 0) return;
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
