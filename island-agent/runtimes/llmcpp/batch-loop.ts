import { findPackageJSON } from "node:module";
import { acquireLock } from "lifecycle-utils";
import type { LlamaContext } from "node-llama-cpp";
import type { Clock } from "../../../shared/clock.ts";
import { fillBatch } from "./batch-order.ts";
import { BatchSize } from "./batch-size.ts";

/** Request of a node-llama-cpp sequence (3.21.1): tokens to evaluate, and which of them need a result. */
interface DecodeRequest {
  readonly sequenceId: number;
  /** Tokens to evaluate. When the request is settled, the library treats the remaining ones as evaluated. */
  readonly tokens: number[];
  /** Whether each token needs a result, by index. */
  readonly logits: readonly (boolean | undefined)[];
  readonly firstTokenSequenceIndex: number;
  readonly afterBatchAction?: (stateLength: number) => unknown;
}

/** Samples the result at an index of the batch. */
type Sample = (batchIndex: number, position: number) => unknown;
/** Results by position in the sequence. */
type Results = [position: number, value: unknown][];
/** Receives a result and its sampled token before the batch ends; resolves to the token. */
type Follow = (batchIndex: number, sampled: Promise<unknown>) => Promise<unknown>;

/** The part of llama.cpp's binding that evaluates batches. */
interface BatchBinding {
  initBatch(size: number): void;
  addToBatch(sequenceId: number, position: number, tokens: Uint32Array, withResult: Uint32Array): Uint32Array;
  decodeBatch(): Promise<void>;
}

/** Private members of a context that this file reads or replaces. */
export interface ContextInternals {
  readonly _ctx: BatchBinding;
  readonly batchSize: number;
  _decodeTokens(request: DecodeRequest, sample: Sample): Promise<Results>;
}

interface QueuedRequest {
  readonly request: DecodeRequest;
  readonly sample: Sample;
  readonly results: Results;
  /** Number of evaluated tokens. */
  done: number;
  readonly settle: (error?: Error) => void;
}

interface Share {
  readonly item: QueuedRequest;
  readonly from: number;
  readonly count: number;
  /** Batch indexes of the tokens with a result, and their positions in the sequence. */
  readonly outputs: readonly (readonly [batchIndex: number, position: number])[];
}

/**
 * Evaluates the requests of all sequences of a context, batch by batch. It replaces node-llama-cpp's dispatch, which:
 * - starts a batch before the slowest sequence has queued its token,
 * - orders sequences by completion, although llama.cpp merges only ascending sequence ids,
 * - costs as much CPU time as a tiny model.
 *
 * Here all sequences of a batch get their results together and queue their next tokens in the same tick of the event
 * loop. The next batch starts as soon as all runs have queued, otherwise in the next tick. In both cases it starts
 * before the output of the previous batch is written.
 *
 * Each batch holds the library's lock on the context, because the library erases tokens of other sequences under it.
 */
export class BatchLoop {
  readonly #context: ContextInternals;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #size: BatchSize;
  /** Abort signals of the runs, by sequence id. After an abort, the sequence is no longer evaluated. */
  readonly signals = new Map<number, AbortSignal>();
  /**
   * Callbacks for the number of a sequence's tokens in each batch, by sequence id. Only runs that read their prompt
   * need one.
   */
  readonly onTokens = new Map<number, (tokens: number) => void>();
  /** Runs that read each result in addition to their sampler, by sequence id. */
  readonly followers = new Map<number, Follow>();
  readonly #watchers = new Set<() => void>();
  #queue: QueuedRequest[] = [];
  #isPlanned = false;
  #running: Promise<void> | null = null;
  #closed: Error | null = null;

  /** Takes over the evaluation of a context. @throws {Error} when the internals of node-llama-cpp are incompatible. */
  static over(context: LlamaContext, clock: Pick<Clock, "monotonicMs">): BatchLoop {
    const internals = context as unknown as Partial<ContextInternals>;
    if (typeof internals._decodeTokens !== "function" || typeof internals._ctx?.decodeBatch !== "function") {
      throw new Error("This version of node-llama-cpp is not supported");
    }
    if (!sharesLocks()) throw new Error("node-llama-cpp has a separate copy of lifecycle-utils: run npm dedupe");
    return new BatchLoop(internals as ContextInternals, clock);
  }

  constructor(context: ContextInternals, clock: Pick<Clock, "monotonicMs">) {
    this.#context = context;
    this.#clock = clock;
    this.#size = new BatchSize(context.batchSize);
    context._decodeTokens = (request, sample) => this.#decode(request, sample);
  }

  /**
   * Runs `work` for one sequence. Calls `onBatch` with every batch of the context until `work` ends, since each batch
   * advances its prompt or completion.
   */
  async withBatches<T>(onBatch: () => void, work: () => Promise<T>): Promise<T> {
    this.#watchers.add(onBatch);
    try {
      return await work();
    } finally {
      this.#watchers.delete(onBatch);
    }
  }

  /** Stops the evaluation. Resolves when the native code has returned. */
  async close(): Promise<void> {
    this.#closed = new Error("The model is unloaded");
    this.#fail(this.#queue, this.#closed);
    await this.#running;
  }

  #decode(request: DecodeRequest, sample: Sample): Promise<Results> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) return reject(this.#closed);
      const results: Results = [];
      const settle = (error?: Error): void => (error === undefined ? resolve(results) : reject(error));
      this.#queue.push({ request, sample, results, done: 0, settle });
      this.#plan();
    });
  }

  /** Begins the next batch when all runs have queued, otherwise in the next tick of the event loop. */
  #plan(): void {
    if (this.#running !== null || this.#queue.length === 0) return;
    if (this.#queue.length === this.#watchers.size) return this.#begin();
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#begin();
    });
  }

  #begin(): void {
    if (this.#running !== null || this.#queue.length === 0) return;
    this.#running = this.#evaluate().finally(() => {
      this.#running = null;
      this.#plan();
    });
  }

  /** Evaluates one batch. Never rejects: errors go to the sequences. */
  async #evaluate(): Promise<void> {
    const lock = await acquireLock([this.#context, "context"]);
    let items: readonly QueuedRequest[] = this.#queue;
    try {
      this.#dropAborted();
      const { shares, size } = this.#take();
      items = shares.map(({ item }) => item);
      if (size === 0) return;
      const beganMs = this.#clock.monotonicMs();
      const decoded = this.#context._ctx.decodeBatch();
      for (const onBatch of this.#watchers) onBatch();
      await decoded;
      this.#size.note({ tokens: size, ms: this.#clock.monotonicMs() - beganMs });
      await this.#sampleAll(shares);
      for (const { item } of shares) {
        const { firstTokenSequenceIndex, afterBatchAction } = item.request;
        const action = afterBatchAction?.(firstTokenSequenceIndex + item.done + 1);
        if (action instanceof Promise) await action;
      }
      for (const { done, request, settle } of items) if (done === request.tokens.length) settle();
    } catch (error) {
      this.#fail(items, error instanceof Error ? error : new Error(String(error)));
    } finally {
      lock.dispose();
    }
  }

  /** Settles requests of aborted runs with the tokens so far. The library ends an evaluation that has no result. */
  #dropAborted(): void {
    const isAborted = ({ request }: QueuedRequest): boolean => this.signals.get(request.sequenceId)?.aborted === true;
    for (const { request, done, settle } of this.#queue.filter(isAborted)) {
      request.tokens.length = done;
      settle();
    }
    this.#queue = this.#queue.filter((item) => !isAborted(item));
  }

  /** Adds the next `size` tokens to llama.cpp's batch. Sequences with remaining tokens stay in the queue. */
  #take(): { readonly shares: readonly Share[]; readonly size: number } {
    const { _ctx: binding } = this.#context;
    const queue = this.#queue;
    const waiting = queue.map(({ request, done }) => {
      return { sequenceId: request.sequenceId, count: request.tokens.length - done };
    });
    const parts = fillBatch(waiting, this.#size.tokens);
    const size = parts.reduce((sum, { count }) => sum + count, 0);
    if (size > 0) binding.initBatch(size);
    const shares = parts.map(({ index, count }) => {
      const item = queue[index] as QueuedRequest;
      const { sequenceId, tokens, logits, firstTokenSequenceIndex } = item.request;
      const from = item.done;
      const position = firstTokenSequenceIndex + from;
      const wanted: number[] = [];
      for (let at = 0; at < count; at += 1) if (logits[from + at] === true) wanted.push(at);
      const part = Uint32Array.from(tokens.slice(from, from + count));
      const indexes = binding.addToBatch(sequenceId, position, part, Uint32Array.from(wanted));
      item.done += count;
      this.onTokens.get(sequenceId)?.(count);
      return { item, from, count, outputs: wanted.map((at, nth) => [indexes[nth] as number, position + at] as const) };
    });
    this.#queue = queue.filter(({ request, done }) => done < request.tokens.length);
    return { shares, size };
  }

  /**
   * Samples the results of a batch. With a result besides a sequence's only token, llama.cpp may reorder the results on
   * the first read (`batch-order.ts`), so threads must not read at the same time.
   */
  async #sampleAll(shares: readonly Share[]): Promise<void> {
    const mayReorder = shares.some(({ count, outputs }) => count > 1 && outputs.length > 0);
    if (!mayReorder) return void (await Promise.all(shares.map((share) => this.#sample(share))));
    // oxlint-disable-next-line no-await-in-loop
    for (const share of shares) await this.#sample(share);
  }

  async #sample({ item, outputs }: Share): Promise<void> {
    const follow = this.followers.get(item.request.sequenceId);
    for (const [batchIndex, position] of outputs) {
      const sampled = item.sample(batchIndex, position);
      // One result after the other, because the sampler of a sequence has one state.
      // oxlint-disable-next-line no-await-in-loop
      item.results.push([
        position,
        await (follow === undefined ? sampled : follow(batchIndex, Promise.resolve(sampled))),
      ]);
    }
  }

  #fail(items: readonly QueuedRequest[], error: Error): void {
    for (const { settle } of items) settle(error);
    this.#queue = this.#queue.filter((item) => !items.includes(item));
  }
}

/** Returns whether node-llama-cpp and this file use the same copy of the package that holds the locks. */
export function sharesLocks(): boolean {
  const theirs = findPackageJSON("lifecycle-utils", import.meta.resolve("node-llama-cpp"));
  return theirs !== undefined && theirs === findPackageJSON("lifecycle-utils", import.meta.url);
}
