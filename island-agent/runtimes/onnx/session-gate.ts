import { setImmediate } from "node:timers/promises";
import type { InferenceSession } from "onnxruntime-node";

/** Options forced on every session of the process. */
type SessionBounds = Pick<InferenceSession.SessionOptions, "intraOpNumThreads" | "interOpNumThreads">;
type Feeds = InferenceSession.FeedsType;
type Run = (this: InferenceSession, feeds: Feeds) => Promise<InferenceSession.ReturnType>;
type Create = (model: string | Uint8Array, options?: InferenceSession.SessionOptions) => Promise<InferenceSession>;

/**
 * Wraps every ONNX session of this process. transformers.js creates sessions (sorting, resizing) that accept no options
 * and would use one thread per core; the wrapper sets their thread limits. It also stops a task between two steps, such
 * as tokens or labels.
 */
export class SessionGate {
  /** Called after each step of the model. */
  #onStep: () => void = () => {};
  #signal: AbortSignal | undefined;

  /** Patches `InferenceSession.create` of onnxruntime-node, which all callers share. Call it once per process. */
  static async install(bounds: SessionBounds): Promise<SessionGate> {
    const { InferenceSession } = await import("onnxruntime-node");
    const gate = new SessionGate();
    const { create } = InferenceSession as { create: Create };
    const guarded: Create = async (model, options) =>
      gate.#guard(await create.call(InferenceSession, model, { ...options, ...bounds }));
    Object.assign(InferenceSession, { create: guarded });
    return gate;
  }

  /** Runs `work`. After `signal` is aborted, the next step of any session throws `signal.reason`. */
  async during<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#signal = signal;
    try {
      return await work();
    } finally {
      this.#signal = undefined;
      this.#onStep = () => {};
    }
  }

  /** Calls `listener` after each step until `during` ends. */
  onStep(listener: () => void): void {
    this.#onStep = listener;
  }

  /** Lets an abort arrive between two steps of long work. @throws `signal.reason` of `during` */
  async rest(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
  }

  /** Returns a function that rests before each call of the given one. */
  resting<Call extends (...args: never[]) => Promise<unknown>>(call: Call): Call {
    return new Proxy(call, {
      apply: async (target, self, args) => {
        await this.rest();
        return Reflect.apply(target, self, args) as unknown;
      },
    });
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
