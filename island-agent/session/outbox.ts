import type { Clock } from "../../shared/clock.ts";
import { JobFailure } from "../../shared/errors.ts";
import { encodeFrame, MAX_FRAME_BYTES } from "../../shared/protocol/codec.ts";
import { hasTooManyValues } from "../../shared/protocol/frame-values.ts";
import { OUTPUTS_FEATURE, type HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import {
  fromIslandSchema,
  MAX_FRAME_ITEMS,
  MAX_JOINED_OUTPUTS,
  type FromIsland,
  type HeldJob,
  type NumberedFrame,
  type OutputFrame,
} from "../../shared/protocol/from-island.ts";
import { isTokenItem, type OutputItem, type PromptTokens, charsOf, isModelItem } from "../../shared/output.ts";
import type { AttemptLog, AttemptName, LastFrame, Unnumbered } from "./attempt-log.ts";

/** Bytes for the field names and numbers of an item, and for the rest of a frame. */
const ITEM_BYTES = 96;
const FRAME_BYTES = 512;
/** Time for which a busy session gathers output into one frame. Readers do not notice it. */
const GATHER_MS = 4;

type Numbers = Pick<NumberedFrame, "jobId" | "attempt" | "seq">;

/** Sends a frame. Returns false when the socket is behind; output is then gathered until {@link Outbox.drained}. */
type Send = (frame: FromIsland) => unknown;

/** Maximum characters of a failure's message. Source: shared/protocol/from-island.ts. */
const MAX_MESSAGE = 2_000;

/**
 * Frames for the coordinator. Numbered frames are kept until they are acknowledged, and are sent again after a
 * reconnect, so that a lost socket loses neither output nor result. Source: decision 0003. A frame that the coordinator
 * would refuse is never sent, because it would be refused every time: its job fails instead.
 */
export class Outbox {
  readonly #clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly #attempts = new Map<string, AttemptLog>();
  /** Sends frames; null before the welcome of a session. */
  #send: Send | null = null;
  /** Limit that the last welcome stated. */
  #maxFrameBytes = MAX_FRAME_BYTES;
  /** Whether the coordinator accepts `outputs`. */
  #mayJoin = false;
  /** Whether the next flush is scheduled. */
  #flushing = false;
  /** Monotonic time of the last flush. */
  #flushedMs = -Infinity;
  #isBehind = false;
  #emptied = Promise.withResolvers<void>();

  constructor(clock: Pick<Clock, "monotonicMs" | "schedule">) {
    this.#clock = clock;
  }

  /** Returns the jobs that run or have unacknowledged frames, for `hello`. */
  held(): HeldJob[] {
    return [...this.#attempts.values()].map((log) => {
      log.startSent = log.started;
      const { jobId, attempt, claim, started } = log;
      return { jobId, attempt, claim, started };
    });
  }

  get isEmpty(): boolean {
    return this.#attempts.size === 0;
  }

  /** Resolves when all frames are acknowledged. */
  emptied(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : this.#emptied.promise;
  }

  has(jobId: string, attempt: number): boolean {
    return this.#attempts.get(jobId)?.attempt === attempt;
  }

  /** Begins an attempt. It supersedes an earlier one of the same job. */
  open(name: AttemptName, onFailure: (failure: JobFailure) => void): void {
    const { jobId, attempt, claim } = name;
    this.#attempts.set(jobId, {
      jobId,
      attempt,
      claim,
      onFailure,
      started: false,
      startSent: false,
      prompt: null,
      lastSeq: 0,
      unacked: [],
      items: [],
      failure: null,
      hasEnded: false,
    });
    this.#send?.({ type: "accepted", jobId, attempt });
  }

  /** Refuses a job and keeps no state of it. */
  refuse(frame: Extract<FromIsland, { type: "refused" }>): void {
    this.#remove(frame.jobId);
    this.#send?.(frame);
  }

  start(jobId: string, attempt: number): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined || log.started) return;
    log.started = true;
    this.#sendStart(log);
  }

  /** Reports how much of the prompt has been read. */
  prompt(jobId: string, attempt: number, prompt: PromptTokens): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined || log.hasEnded) return;
    log.prompt = prompt;
    this.#sendStart(log);
  }

  /**
   * Adds output. Output of one event loop tick (one read from a host process) is packed into as few frames as possible,
   * as is all output while the socket is behind. With several attempts, output within {@link GATHER_MS} of the last
   * frame waits for the rest of this time. Other output is not delayed.
   */
  output(jobId: string, attempt: number, item: OutputItem): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined || log.hasEnded || log.failure !== null) return;
    log.items.push(item);
    if (this.#flushing || this.#isBehind) return;
    this.#flushing = true;
    const leftMs = this.#attempts.size === 1 ? 0 : this.#flushedMs + GATHER_MS - this.#clock.monotonicMs();
    if (leftMs > 0) this.#clock.schedule(leftMs, () => this.#flushGathered());
    else process.nextTick(() => this.#flushGathered());
  }

  /** Resumes sending after the socket has sent all frames. */
  drained(): void {
    this.#isBehind = false;
    this.#flushAll();
  }

  /**
   * Sends the last frame of an attempt, which is kept until it is acknowledged. Returns the frame that was sent, which
   * is a failure when the result cannot be sent.
   */
  end(jobId: string, attempt: number, frame: LastFrame): LastFrame {
    const log = this.#find(jobId, attempt);
    if (log === undefined || log.hasEnded) return frame;
    this.#flush([log]);
    const last = this.#lastFrame(log, frame);
    log.hasEnded = true;
    this.#number(log, last);
    return last;
  }

  acknowledge(jobId: string, attempt: number, seq: number): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined) return;
    const kept = log.unacked.findIndex((frame) => frame.seq > seq);
    log.unacked.splice(0, kept === -1 ? log.unacked.length : kept);
    if (log.hasEnded && log.unacked.length === 0) this.#remove(jobId);
  }

  forget(jobId: string, attempt: number): void {
    if (this.has(jobId, attempt)) this.#remove(jobId);
  }

  /** Starts a session after its welcome: sends the missing frames, and then every frame immediately. */
  connect(
    send: Send,
    held: readonly HeldDecision[],
    maxFrameBytes: number = MAX_FRAME_BYTES,
    features: readonly string[] = [],
  ): void {
    this.#send = send;
    this.#maxFrameBytes = maxFrameBytes;
    this.#mayJoin = features.includes(OUTPUTS_FEATURE);
    for (const decision of held) {
      if (decision.action === "drop") {
        this.forget(decision.jobId, decision.attempt);
        continue;
      }
      this.acknowledge(decision.jobId, decision.attempt, decision.ackedSeq);
      const log = this.#find(decision.jobId, decision.attempt);
      if (log !== undefined) this.#resend(log, send);
    }
  }

  disconnect(): void {
    this.#send = null;
    this.drained();
  }

  #find(jobId: string, attempt: number): AttemptLog | undefined {
    const log = this.#attempts.get(jobId);
    return log?.attempt === attempt ? log : undefined;
  }

  #remove(jobId: string): void {
    this.#attempts.delete(jobId);
    if (!this.isEmpty) return;
    this.#emptied.resolve();
    this.#emptied = Promise.withResolvers();
  }

  #sendStart(log: AttemptLog): void {
    if (this.#send === null) return;
    log.startSent = true;
    const { jobId, attempt, prompt } = log;
    this.#send({ type: "started", jobId, attempt, ...(prompt === null ? {} : { prompt }) });
  }

  #resend(log: AttemptLog, send: Send): void {
    // The run may have started between hello and welcome.
    if (log.started && (!log.startSent || log.prompt !== null)) this.#sendStart(log);
    for (const frame of log.unacked) {
      if (this.#isTooLarge(frame)) return this.#failAt(log, frame.seq);
      this.#isBehind = send(frame) === false;
    }
  }

  /** Replaces the first frame that is too large with a failure, because the coordinator now has a lower limit. */
  #failAt(log: AttemptLog, seq: number): void {
    log.unacked = log.unacked.filter((frame) => frame.seq < seq);
    log.lastSeq = seq - 1;
    log.hasEnded = true;
    const failure = tooLarge(this.#maxFrameBytes);
    this.#number(log, failedFrame(failure));
    this.#fail(log, failure);
  }

  #flushGathered(): void {
    this.#flushing = false;
    if (!this.#isBehind) this.#flushAll();
  }

  #flushAll(): void {
    this.#flushedMs = this.#clock.monotonicMs();
    this.#flush([...this.#attempts.values()]);
  }

  #flush(logs: readonly AttemptLog[]): void {
    const frames: OutputFrame[] = [];
    const failures: (readonly [AttemptLog, JobFailure])[] = [];
    for (const log of logs) {
      const problem = this.#takeOutput(log, frames);
      if (problem !== null) failures.push([log, problem]);
    }
    for (const frame of this.#mayJoin ? joinFrames(frames, this.#maxFrameBytes) : frames) this.#transmit(frame);
    for (const [log, failure] of failures) this.#fail(log, failure);
  }

  /** Moves the output of an attempt into numbered frames. Returns the reason if one of them cannot be sent. */
  #takeOutput(log: AttemptLog, frames: OutputFrame[]): JobFailure | null {
    if (log.items.length === 0) return null;
    const groups = splitItems(log.items, this.#maxFrameBytes);
    log.items = [];
    for (const items of groups) {
      const frame = { type: "output" as const, items };
      const problem = this.#problemOf(log, frame);
      if (problem !== null) return problem;
      frames.push(this.#keep(log, frame));
    }
    return null;
  }

  #fail(log: AttemptLog, failure: JobFailure): void {
    log.failure ??= failure;
    log.items = [];
    log.onFailure(failure);
  }

  #lastFrame(log: AttemptLog, frame: LastFrame): LastFrame {
    if (frame.type === "cancelled") return frame;
    if (log.failure !== null) return failedFrame(log.failure);
    const wanted = frame.type === "failed" ? { ...frame, message: frame.message.slice(0, MAX_MESSAGE) } : frame;
    const problem = this.#problemOf(log, wanted);
    return problem === null ? wanted : failedFrame(problem);
  }

  /** Returns why the coordinator would refuse the frame; null when it accepts it. */
  #problemOf(log: AttemptLog, frame: Unnumbered<NumberedFrame>): JobFailure | null {
    const numbered = this.#numbered(log, frame);
    // Frames of tokens, which are many, need no schema check, because the outbox sets their other fields.
    const parsed = isAllTokens(frame) ? null : fromIslandSchema.safeParse(numbered);
    if (parsed?.success === false) {
      const [issue] = parsed.error.issues;
      return new JobFailure("internal", `The Cargo gave invalid output: ${issue?.path.join(".")}: ${issue?.message}`);
    }
    // Runs after the schema check, which limits the depth for the encoder.
    return this.#isTooLarge(numbered) ? tooLarge(this.#maxFrameBytes) : null;
  }

  /** Encodes only frames that may be too large, because the frames of all tokens pass here. */
  #isTooLarge(frame: NumberedFrame): boolean {
    if (frame.type === "output" && maxBytes(frame.items) <= this.#maxFrameBytes) return false;
    const encoded = encodeFrame(frame);
    return encoded.length > this.#maxFrameBytes || hasTooManyValues(encoded);
  }

  #numbered<T extends Unnumbered<NumberedFrame>>(log: AttemptLog, frame: T): T & Numbers {
    return { ...frame, jobId: log.jobId, attempt: log.attempt, seq: log.lastSeq + 1 };
  }

  #number(log: AttemptLog, frame: Unnumbered<NumberedFrame>): void {
    this.#transmit(this.#keep(log, frame));
  }

  /** Numbers a frame, and keeps it until it is acknowledged. */
  #keep<T extends Unnumbered<NumberedFrame>>(log: AttemptLog, frame: T): T & Numbers {
    const numbered = this.#numbered(log, frame);
    log.lastSeq = numbered.seq;
    log.unacked.push(numbered);
    return numbered;
  }

  #transmit(frame: FromIsland): void {
    if (this.#send?.(frame) === false) this.#isBehind = true;
  }
}

/**
 * Joins frames of output, in order, into `outputs` frames of at most `maxFrameBytes`. A frame that is the only one of
 * its group stays single.
 */
function joinFrames(frames: readonly OutputFrame[], maxFrameBytes: number): FromIsland[] {
  if (frames.length === 1) return [...frames];
  const groups: OutputFrame[][] = [];
  let items = 0;
  let bytes = 0;
  for (const frame of frames) {
    const frameBytes = maxBytes(frame.items);
    items += frame.items.length;
    bytes += frameBytes;
    const group = groups.at(-1);
    const hasSpace = items <= MAX_FRAME_ITEMS && bytes <= maxFrameBytes - FRAME_BYTES;
    if (group !== undefined && hasSpace && group.length < MAX_JOINED_OUTPUTS) {
      group.push(frame);
      continue;
    }
    groups.push([frame]);
    items = frame.items.length;
    bytes = frameBytes;
  }
  return groups.map((group) => {
    const [first] = group;
    if (first !== undefined && group.length === 1) return first;
    return {
      type: "outputs",
      outputs: group.map(({ jobId, attempt, seq, items }) => ({ jobId, attempt, seq, items })),
    };
  });
}

function isAllTokens(frame: Unnumbered<NumberedFrame>): boolean {
  return frame.type === "output" && frame.items.every(isTokenItem);
}

function failedFrame({ code, message, retryable }: JobFailure): LastFrame {
  return { type: "failed", code, message: message.slice(0, MAX_MESSAGE), retryable };
}

function tooLarge(maxFrameBytes: number): JobFailure {
  return new JobFailure(
    "output_too_large",
    `One item of the output is larger than a frame (${maxFrameBytes} bytes), or has too many values`,
  );
}

/** Splits output, in order, into groups for frames of at most `maxFrameBytes`. A larger item is a separate group. */
function splitItems(items: readonly OutputItem[], maxFrameBytes: number): OutputItem[][] {
  if (items.length === 1) return [[...items]];
  const groups: OutputItem[][] = [];
  let group: OutputItem[] = [];
  let bytes = FRAME_BYTES;
  for (const item of items) {
    const itemBytes = maxItemBytes(item);
    if (group.length === MAX_FRAME_ITEMS || (group.length > 0 && bytes + itemBytes > maxFrameBytes)) {
      groups.push(group);
      group = [];
      bytes = FRAME_BYTES;
    }
    group.push(item);
    bytes += itemBytes;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

/** Returns an upper bound for the size of a frame with these items in MessagePack. */
function maxBytes(items: readonly OutputItem[]): number {
  return items.reduce((sum, item) => sum + maxItemBytes(item), FRAME_BYTES);
}

/** Returns the maximum bytes of an item. A UTF-16 unit takes at most 3 bytes in UTF-8. */
function maxItemBytes(item: OutputItem): number {
  if (isModelItem(item)) return ITEM_BYTES + charsOf(item) * 3;
  return item.type === "image" ? ITEM_BYTES + item.data.length * 3 : ITEM_BYTES;
}
