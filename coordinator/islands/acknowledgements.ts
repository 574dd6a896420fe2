import type { NumberedFrame } from "../../shared/protocol/from-island.ts";

/** Sends an `ack` up to and with frame `seq`; `isLast` with the last frame of a run. */
export type SendAck = (seq: number, isLast: boolean) => void;

/** One `ack` for all frames of an attempt that become durable in one write, instead of one for each token. */
export class Acknowledgements {
  /** The last frame of each write that is under way. */
  readonly #last = new WeakMap<Promise<void | false>, { seq: number }>();

  /** @param durable resolves when the frame is durable; the same promise for all frames of one write. False: nobody heard the frame. */
  add({ type, seq }: NumberedFrame, durable: Promise<void | false>, send: SendAck): void {
    const last = this.#last.get(durable);
    if (last !== undefined) {
      last.seq = seq;
      return;
    }
    const first = { seq };
    this.#last.set(durable, first);
    void durable.then((heard) => {
      if (heard !== false) send(first.seq, type !== "output");
    });
  }
}
