import type { OutputItem } from "../../../shared/output.ts";
import type { FromHost, RunOutput } from "./host-messages.ts";

/** Sends what one turn of the event loop produced, over all runs, as one message. */
export class RunOutbox {
  readonly #send: (message: FromHost) => void;
  #pending = new Map<number, OutputItem[]>();

  constructor(send: (message: FromHost) => void) {
    this.#send = send;
  }

  add(run: number, item: OutputItem): void {
    if (this.#pending.size === 0) setImmediate(() => this.#flush());
    const items = this.#pending.get(run);
    if (items === undefined) this.#pending.set(run, [item]);
    else items.push(item);
  }

  /** Sends `message` after all output so far, so that a run's end never overtakes its text. */
  end(message: FromHost): void {
    this.#flush();
    this.#send(message);
  }

  #flush(): void {
    if (this.#pending.size === 0) return;
    const outputs = Array.from(this.#pending, ([run, items]): RunOutput => ({ run, items }));
    this.#pending = new Map();
    this.#send({ kind: "output", outputs });
  }
}
