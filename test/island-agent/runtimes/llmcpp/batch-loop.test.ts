import { acquireLock } from "lifecycle-utils";
import { describe, expect, it } from "vitest";
import { BatchLoop, type ContextInternals, sharesLocks } from "../../../../island-agent/runtimes/llmcpp/batch-loop.ts";
import { settle } from "../../../support/event-log.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

interface Part {
  readonly sequenceId: number;
  readonly position: number;
  readonly tokens: readonly number[];
}

/** A context that records its batches. Each result is its position. */
class FakeContext implements ContextInternals {
  readonly batchSize: number;
  readonly batches: Part[][] = [];
  /** Replaces the native evaluation of a batch. */
  native: () => Promise<void> = () => Promise.resolve();
  #outputs = 0;

  constructor(batchSize = 8) {
    this.batchSize = batchSize;
  }

  readonly _ctx = {
    initBatch: () => {
      this.batches.push([]);
      this.#outputs = 0;
    },
    addToBatch: (sequenceId: number, position: number, tokens: Uint32Array, withResult: Uint32Array) => {
      this.batches.at(-1)?.push({ sequenceId, position, tokens: [...tokens] });
      return Uint32Array.from(withResult, () => this.#outputs++);
    },
    decodeBatch: () => this.native(),
  };

  _decodeTokens(
    ...[{ sequenceId }]: Parameters<ContextInternals["_decodeTokens"]>
  ): ReturnType<ContextInternals["_decodeTokens"]> {
    throw new Error(`Not replaced: ${sequenceId}`);
  }

  /** Evaluates tokens of a sequence, and returns a result for the last of them. */
  decode(sequenceId: number, position: number, tokens: readonly number[]): Promise<readonly [number, unknown][]> {
    const logits = tokens.map((_, index) => index === tokens.length - 1);
    return this._decodeTokens(
      { sequenceId, tokens: [...tokens], logits, firstTokenSequenceIndex: position },
      (_index, at) => `sampled ${at}`,
    );
  }

  /** Batches as "sequence:tokens". */
  get shapes(): string[] {
    return this.batches.map((parts) =>
      parts.map(({ sequenceId, tokens }) => `${sequenceId}:${tokens.length}`).join(" "),
    );
  }
}

function makeLoop(batchSize?: number): { context: FakeContext; loop: BatchLoop } {
  const context = new FakeContext(batchSize);
  return { context, loop: new BatchLoop(context, new ManualClock()) };
}

/** Generates tokens, each after several promise callbacks, as the library does. */
async function generate(context: FakeContext, id: number, tokens: number): Promise<void> {
  for (let at = 0; at < tokens; at += 1) {
    await context.decode(id, at, [7]);
    for (let nth = 0; nth < 20 * (id + 1); nth += 1) await Promise.resolve();
  }
}

describe("BatchLoop", () => {
  it.each([
    ["one after the other if a sequence has a result within its tokens", [true, undefined, undefined], 1],
    ["at the same time if each sequence has a result of its only token", [undefined, undefined, undefined], 2],
  ])("reads results %s", async (_, logits, together) => {
    const { context } = makeLoop();
    let [reading, most] = [0, 0];
    const sample = async (): Promise<void> => {
      most = Math.max(most, ++reading);
      await settle();
      reading -= 1;
    };
    const decode = (sequenceId: number, tokens: number[], wanted: readonly (boolean | undefined)[]) =>
      context._decodeTokens({ sequenceId, tokens, logits: wanted, firstTokenSequenceIndex: 0 }, sample);
    await Promise.all([decode(0, [1, 2, 3], logits), decode(1, [4], [true]), decode(2, [5], [true])]);
    expect(most).toBe(together);
  });

  it("evaluates one batch per token of each sequence, independent of the number of promises in between", async () => {
    const { context } = makeLoop();
    await Promise.all([2, 0, 3, 1].map((id) => generate(context, id, 50)));
    expect(context.batches).toHaveLength(50);
    expect(new Set(context.shapes)).toEqual(new Set(["0:1 1:1 2:1 3:1"]));
  });

  it("starts a batch as soon as all runs have queued, and otherwise in the next tick of the event loop", async () => {
    const { context, loop } = makeLoop();
    const begin = (id: number, tokens: number): Promise<void> =>
      loop.withBatches(
        () => {},
        () => generate(context, id, tokens),
      );
    let ticks = 0;
    const countTick = (): void => void (ticks += 1);
    setImmediate(countTick);
    await Promise.all([begin(1, 30), begin(0, 30)]);
    expect([ticks, new Set(context.shapes)]).toEqual([0, new Set(["0:1 1:1"])]);
    const idle = Promise.withResolvers<void>();
    const waiting = loop.withBatches(
      () => {},
      () => idle.promise,
    );
    await begin(0, 1);
    expect(ticks).toBe(1);
    idle.resolve();
    await waiting;
  });

  it("resolves with the results by position", async () => {
    const { context } = makeLoop();
    expect(await context.decode(0, 5, [1, 2, 3])).toEqual([[7, "sampled 7"]]);
  });

  it("reads a long prompt in parts during a completion, and evaluates a token of the completion in each batch", async () => {
    const { context } = makeLoop(8);
    await Promise.all([
      context.decode(
        0,
        0,
        Array.from({ length: 20 }, (_, index) => index),
      ),
      generate(context, 1, 4),
    ]);
    expect(context.shapes).toEqual(["0:7 1:1", "0:7 1:1", "0:5 1:1", "0:1 1:1"]);
    const prompt = context.batches.flat().filter(({ sequenceId }) => sequenceId === 0);
    expect(prompt.flatMap(({ tokens }) => tokens)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(prompt.map(({ position }) => position)).toEqual([0, 7, 14, 19]);
  });

  it("reports the prompt tokens of each batch, and every batch to all runs", async () => {
    const { context, loop } = makeLoop(8);
    const parts: number[] = [];
    let batches = 0;
    loop.onTokens.set(0, (tokens) => parts.push(tokens));
    await loop.withBatches(
      () => (batches += 1),
      () =>
        context.decode(
          0,
          0,
          Array.from({ length: 20 }, () => 1),
        ),
    );
    await context.decode(1, 0, [1]);
    expect(parts).toEqual([8, 8, 4]);
    expect(batches).toBe(3);
  });

  it("evaluates no more of a prompt whose run is aborted, and keeps what was evaluated", async () => {
    const { context, loop } = makeLoop(8);
    const abort = new AbortController();
    loop.signals.set(0, abort.signal);
    context.native = async () => {
      if (context.batches.length === 2) abort.abort();
    };
    const tokens = Array.from({ length: 40 }, (_, index) => index);
    const request = { sequenceId: 0, tokens, logits: [], firstTokenSequenceIndex: 0 };
    expect(await context._decodeTokens(request, () => null)).toEqual([]);
    // The library counts these tokens as evaluated.
    expect(tokens).toHaveLength(16);
    expect(context.shapes).toEqual(["0:8", "0:8"]);
    loop.signals.delete(0);
    await context.decode(0, 16, [1, 2]);
    expect(context.shapes).toEqual(["0:8", "0:8", "0:2"]);
  });

  it("continues the other runs of a batch when one is aborted", async () => {
    const { context, loop } = makeLoop(8);
    loop.signals.set(0, AbortSignal.abort());
    const [aborted, other] = await Promise.all([context.decode(0, 0, [1, 2, 3]), context.decode(1, 0, [1, 2, 3])]);
    expect([aborted, other]).toEqual([[], [[2, "sampled 2"]]]);
    expect(context.shapes).toEqual(["1:3"]);
  });

  it("waits while the library has the lock of the context", async () => {
    const { context } = makeLoop();
    const lock = await acquireLock([context, "context"]);
    const decoded = context.decode(0, 0, [1]);
    await settle();
    expect(context.batches).toEqual([]);
    lock.dispose();
    await decoded;
    expect(context.batches).toHaveLength(1);
  });

  it("keeps the lock until the native code has returned", async () => {
    const { context } = makeLoop();
    const native = Promise.withResolvers<void>();
    context.native = () => native.promise;
    const decoded = context.decode(0, 0, [1]);
    await settle();
    let isErased = false;
    const erased = acquireLock([context, "context"]).then((lock) => {
      isErased = true;
      lock.dispose();
    });
    await settle();
    expect(isErased).toBe(false);
    native.resolve();
    await Promise.all([decoded, erased]);
  });

  it("rejects the sequences of a batch with its native error, and continues", async () => {
    const { context } = makeLoop();
    context.native = () => Promise.reject(new Error("Eval has failed"));
    await expect(context.decode(0, 0, [1])).rejects.toThrow("Eval has failed");
    context.native = () => Promise.resolve();
    await expect(context.decode(0, 0, [1])).resolves.toHaveLength(1);
  });

  it("rejects waiting requests when it is closed, and resolves after the native code", async () => {
    const { context, loop } = makeLoop();
    const native = Promise.withResolvers<void>();
    context.native = () => native.promise;
    const running = context.decode(0, 0, [1]);
    await settle();
    const waiting = expect(context.decode(1, 0, [1])).rejects.toThrow("unloaded");
    let isClosed = false;
    const closed = loop.close().then(() => (isClosed = true));
    await waiting;
    await settle();
    expect(isClosed).toBe(false);
    native.resolve();
    await Promise.all([running, closed]);
    await expect(context.decode(0, 1, [1])).rejects.toThrow("unloaded");
  });

  it("uses the same locks as node-llama-cpp", () => {
    expect(sharesLocks()).toBe(true);
  });
});
