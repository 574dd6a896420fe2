import type { NumberedFrame } from "../../../shared/protocol/from-island.ts";

/** Tells Island `hostId` that the frames up to and with this one are durable. */
export type SendAck = (hostId: string, last: Pick<NumberedFrame, "type" | "jobId" | "attempt" | "seq">) => void;

/** One `ack` for all frames of an attempt that become durable in one write, instead of one for each token. */
export class Acknowledgements {
  /** The last frame of each write that is under way. */
  readonly #last = new WeakMap<Promise<void | false>, { seq: number }>();
  readonly #send: SendAck;

  constructor(send: SendAck) {
    this.#send = send;
  }

  /** @param durable resolves when the frame is durable; the same promise for all frames of one write. False: nobody heard the frame. */
  add(hostId: string, { type, jobId, attempt, seq }: NumberedFrame, durable: Promise<void | false>): void {
    const last = this.#last.get(durable);
    if (last !== undefined) {
      last.seq = seq;
      return;
    }
    const first = { seq };
    this.#last.set(durable, first);
    void durable.then((heard) => {
      if (heard !== false) this.#send(hostId, { type, jobId, attempt, seq: first.seq });
    });
  }
}
