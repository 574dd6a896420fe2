import type { InferenceSession } from "onnxruntime-node";

/** What goes for every session of the process. */
export type SessionBounds = Pick<InferenceSession.SessionOptions, "intraOpNumThreads" | "interOpNumThreads">;
type Feeds = InferenceSession.FeedsType;
type Run = (this: InferenceSession, feeds: Feeds) => Promise<InferenceSession.ReturnType>;
type Create = (model: string | Uint8Array, options?: InferenceSession.SessionOptions) => Promise<InferenceSession>;

/**
 * Every session of this process goes through here, those too that transformers.js makes for itself (sorting, resizing), which take
 * one thread a core and no options. A task of several steps (a token each, a label each) can so be stopped between two of them.
 */
export class SessionGate {
  /** Called after each step of the model. */
  #onStep: () => void = () => {};
  #signal: AbortSignal | undefined;

  /** Puts a gate before onnxruntime-node, whose one class all callers share. Once in the life of a process. */
  static async install(bounds: SessionBounds): Promise<SessionGate> {
    const { InferenceSession } = await import("onnxruntime-node");
    const gate = new SessionGate();
    const { create } = InferenceSession as { create: Create };
    const guarded: Create = async (model, options) =>
      gate.#guard(await create.call(InferenceSession, model, { ...options, ...bounds }));
    Object.assign(InferenceSession, { create: guarded });
    return gate;
  }

  /** Does `work`; the next step of any session in it throws `signal.reason` once that is aborted. */
  async during<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#signal = signal;
    try {
      return await work();
    } finally {
      this.#signal = undefined;
      this.#onStep = () => {};
    }
  }

  /** Has `listener` called after each step until `during` ends. */
  onStep(listener: () => void): void {
    this.#onStep = listener;
  }

  #guard(session: InferenceSession): InferenceSession {
    const { run } = session as { run: Run };
    return Object.assign(session, {
      run: async (feeds: Feeds) => {
        this.#signal?.throwIfAborted();
        const outputs = await run.call(session, feeds);
        this.#onStep();
        return outputs;
      },
    });
  }
}
