import { JobFailure } from "../../shared/errors.ts";
import { encodeFrame, MAX_FRAME_BYTES } from "../../shared/protocol/codec.ts";
import type { HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import {
  fromIslandSchema,
  type FromIsland,
  type HeldJob,
  type NumberedFrame,
} from "../../shared/protocol/from-island.ts";
import type { OutputItem } from "../../shared/output.ts";
import { maxBytes, splitItems } from "./split-items.ts";

/** A numbered frame before it has its number. */
type Unnumbered<T> = T extends NumberedFrame ? Omit<T, "seq" | "jobId" | "attempt"> : never;
export type LastFrame = Unnumbered<Exclude<NumberedFrame, { type: "output" }>>;

/** What an attempt is known by on the wire. */
export interface AttemptName {
  readonly jobId: string;
  readonly attempt: number;
  /** The secret that `assign` gave; repeated when the Island comes back with the job. */
  readonly claim: string;
}

interface AttemptLog extends AttemptName {
  /** Told that what the job makes cannot be sent, so that its run may stop. */
  readonly onFailure: (failure: JobFailure) => void;
  started: boolean;
  /** False while the coordinator has not heard that the run began. */
  startTold: boolean;
  lastSeq: number;
  /** Numbered frames that the coordinator has not acknowledged, in order. */
  unacked: NumberedFrame[];
  /** Output of this turn of the event loop, not yet in a frame. */
  items: OutputItem[];
  failure: JobFailure | null;
  hasEnded: boolean;
}

/** Most characters of a failure's message. Source: shared/protocol/from-island.ts. */
const MAX_MESSAGE = 2_000;

/**
 * What this Island owes the coordinator. Numbered frames are kept until they are acknowledged and are sent again after a
 * reconnect, so that neither output nor result is ever lost with a socket. Source: DESIGN §5. A frame that the coordinator
 * would refuse is never sent, as it would be refused for ever: its job fails instead.
 */
export class Outbox {
  readonly #attempts = new Map<string, AttemptLog>();
  /** Null while there is no session that was welcomed. */
  #send: ((frame: FromIsland) => void) | null = null;
  /** As the last welcome said. */
  #maxFrameBytes = MAX_FRAME_BYTES;
  #flushing = false;
  #emptied = Promise.withResolvers<void>();

  /** Jobs that the Island still answers for, for `hello`. */
  held(): HeldJob[] {
    return [...this.#attempts.values()].map((log) => {
      log.startTold = log.started;
      return { jobId: log.jobId, attempt: log.attempt, claim: log.claim, started: log.started };
    });
  }

  get isEmpty(): boolean {
    return this.#attempts.size === 0;
  }

  /** Resolves when everything is acknowledged. */
  emptied(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : this.#emptied.promise;
  }

  has(jobId: string, attempt: number): boolean {
    return this.#attempts.get(jobId)?.attempt === attempt;
  }

  /** Takes charge of an attempt; an earlier one of the same job is superseded. */
  open(name: AttemptName, onFailure: (failure: JobFailure) => void): void {
    const { jobId, attempt, claim } = name;
    this.#attempts.set(jobId, {
      jobId,
      attempt,
      claim,
      onFailure,
      started: false,
      startTold: false,
      lastSeq: 0,
      unacked: [],
      items: [],
      failure: null,
      hasEnded: false,
    });
    this.#send?.({ type: "accepted", jobId, attempt });
  }

  /** The job is not taken; nothing is kept of it. */
  refuse(frame: Extract<FromIsland, { type: "refused" }>): void {
    this.#remove(frame.jobId);
    this.#send?.(frame);
  }

  start(jobId: string, attempt: number): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined || log.started) return;
    log.started = true;
    this.#tellStart(log);
  }

  /** Adds output; all of one turn of the event loop goes in as few frames as it fits. */
  output(jobId: string, attempt: number, item: OutputItem): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined || log.hasEnded || log.failure !== null) return;
    log.items.push(item);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      for (const each of this.#attempts.values()) this.#flush(each);
    });
  }

  /**
   * The last frame of an attempt; the job is held until it is acknowledged. Returns the frame that ends it: a failure in
   * place of a result that cannot be sent.
   */
  end(jobId: string, attempt: number, frame: LastFrame): LastFrame {
    const log = this.#find(jobId, attempt);
    if (log === undefined || log.hasEnded) return frame;
    this.#flush(log);
    const last = this.#lastFrame(log, frame);
    log.hasEnded = true;
    this.#number(log, last);
    return last;
  }

  acknowledge(jobId: string, attempt: number, seq: number): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined) return;
    log.unacked = log.unacked.filter((frame) => frame.seq > seq);
    if (log.hasEnded && log.unacked.length === 0) this.#remove(jobId);
  }

  forget(jobId: string, attempt: number): void {
    if (this.has(jobId, attempt)) this.#remove(jobId);
  }

  /** A session was welcomed: sends again what it has not got, and from now on everything. */
  connect(
    send: (frame: FromIsland) => void,
    held: readonly HeldDecision[],
    maxFrameBytes: number = MAX_FRAME_BYTES,
  ): void {
    this.#send = send;
    this.#maxFrameBytes = maxFrameBytes;
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

  #tellStart(log: AttemptLog): void {
    if (this.#send === null) return;
    log.startTold = true;
    this.#send({ type: "started", jobId: log.jobId, attempt: log.attempt });
  }

  #resend(log: AttemptLog, send: (frame: FromIsland) => void): void {
    // The run may have begun between hello and welcome.
    if (log.started && !log.startTold) this.#tellStart(log);
    for (const frame of log.unacked) {
      if (this.#isTooLarge(frame)) return this.#failAt(log, frame.seq);
      send(frame);
    }
  }

  /** The coordinator takes smaller frames than before: the job fails in place of the first that is too large. */
  #failAt(log: AttemptLog, seq: number): void {
    log.unacked = log.unacked.filter((frame) => frame.seq < seq);
    log.lastSeq = seq - 1;
    log.hasEnded = true;
    const failure = tooLarge(this.#maxFrameBytes);
    this.#number(log, failedFrame(failure));
    this.#fail(log, failure);
  }

  #flush(log: AttemptLog): void {
    if (log.items.length === 0) return;
    const frames = splitItems(log.items, this.#maxFrameBytes);
    log.items = [];
    for (const items of frames) {
      const frame = { type: "output" as const, items };
      const problem = this.#problemOf(log, frame);
      if (problem !== null) return this.#fail(log, problem);
      this.#number(log, frame);
    }
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

  /** Why the coordinator would refuse the frame; null when it would not. */
  #problemOf(log: AttemptLog, frame: Unnumbered<NumberedFrame>): JobFailure | null {
    const numbered = this.#numbered(log, frame);
    const parsed = fromIslandSchema.safeParse(numbered);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return new JobFailure(
        "internal",
        `The Cargo made output of a wrong form: ${issue?.path.join(".")}: ${issue?.message}`,
      );
    }
    // After the schema, which bounds how deep the encoder has to go.
    return this.#isTooLarge(numbered) ? tooLarge(this.#maxFrameBytes) : null;
  }

  /** Encodes only what may be too large: this is on the way of every token. */
  #isTooLarge(frame: NumberedFrame): boolean {
    if (frame.type === "output" && maxBytes(frame.items) <= this.#maxFrameBytes) return false;
    return encodeFrame(frame).length > this.#maxFrameBytes;
  }

  #numbered(log: AttemptLog, frame: Unnumbered<NumberedFrame>): NumberedFrame {
    return { ...frame, jobId: log.jobId, attempt: log.attempt, seq: log.lastSeq + 1 };
  }

  #number(log: AttemptLog, frame: Unnumbered<NumberedFrame>): void {
    const numbered = this.#numbered(log, frame);
    log.lastSeq = numbered.seq;
    log.unacked.push(numbered);
    this.#send?.(numbered);
  }
}

function failedFrame({ code, message, retryable }: JobFailure): LastFrame {
  return { type: "failed", code, message: message.slice(0, MAX_MESSAGE), retryable };
}

function tooLarge(maxFrameBytes: number): JobFailure {
  return new JobFailure(
    "output_too_large",
    `A piece of the output is larger than the ${maxFrameBytes} bytes of a frame`,
  );
}
