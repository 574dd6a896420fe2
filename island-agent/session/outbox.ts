import type { HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland, HeldJob, NumberedFrame } from "../../shared/protocol/from-island.ts";
import type { OutputItem } from "../../shared/output.ts";

/** A numbered frame before it has its number. */
type Unnumbered<T> = T extends NumberedFrame ? Omit<T, "seq" | "jobId" | "attempt"> : never;
export type LastFrame = Unnumbered<Exclude<NumberedFrame, { type: "output" }>>;

interface AttemptLog {
  readonly jobId: string;
  readonly attempt: number;
  started: boolean;
  lastSeq: number;
  /** Numbered frames that the coordinator has not acknowledged, in order. */
  unacked: NumberedFrame[];
  /** Output of this turn of the event loop, not yet in a frame. */
  items: OutputItem[];
  hasEnded: boolean;
}

/**
 * What this Island owes the coordinator. Numbered frames are kept until they are acknowledged and are sent again after a
 * reconnect, so that neither output nor result is ever lost with a socket. Source: DESIGN §5.
 */
export class Outbox {
  readonly #attempts = new Map<string, AttemptLog>();
  /** Null while there is no session that was welcomed. */
  #send: ((frame: FromIsland) => void) | null = null;
  #flushing = false;

  /** Jobs that the Island still answers for. */
  held(): HeldJob[] {
    return [...this.#attempts.values()].map(({ jobId, attempt, started }) => ({ jobId, attempt, started }));
  }

  get isEmpty(): boolean {
    return this.#attempts.size === 0;
  }

  has(jobId: string, attempt: number): boolean {
    return this.#attempts.get(jobId)?.attempt === attempt;
  }

  open(jobId: string, attempt: number): void {
    const log: AttemptLog = { jobId, attempt, started: false, lastSeq: 0, unacked: [], items: [], hasEnded: false };
    this.#attempts.set(jobId, log);
    this.#send?.({ type: "accepted", jobId, attempt });
  }

  /** The job is not taken; nothing is kept of it. */
  refuse(frame: Extract<FromIsland, { type: "refused" }>): void {
    this.#attempts.delete(frame.jobId);
    this.#send?.(frame);
  }

  start(jobId: string, attempt: number): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined) return;
    log.started = true;
    this.#send?.({ type: "started", jobId, attempt });
  }

  /** Adds output; all of one turn of the event loop goes in one frame. */
  output(jobId: string, attempt: number, item: OutputItem): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined || log.hasEnded) return;
    log.items.push(item);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      for (const each of this.#attempts.values()) this.#flush(each);
    });
  }

  /** The last frame of an attempt; the job is held until it is acknowledged. */
  end(jobId: string, attempt: number, frame: LastFrame): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined || log.hasEnded) return;
    this.#flush(log);
    log.hasEnded = true;
    this.#number(log, frame);
  }

  acknowledge(jobId: string, attempt: number, seq: number): void {
    const log = this.#find(jobId, attempt);
    if (log === undefined) return;
    log.unacked = log.unacked.filter((frame) => frame.seq > seq);
    if (log.hasEnded && log.unacked.length === 0) this.#attempts.delete(jobId);
  }

  forget(jobId: string, attempt: number): void {
    if (this.has(jobId, attempt)) this.#attempts.delete(jobId);
  }

  /** A session was welcomed: sends again what it has not got, and from now on everything. */
  connect(send: (frame: FromIsland) => void, held: readonly HeldDecision[]): void {
    this.#send = send;
    for (const decision of held) {
      if (decision.action === "drop") {
        this.forget(decision.jobId, decision.attempt);
        continue;
      }
      this.acknowledge(decision.jobId, decision.attempt, decision.ackedSeq);
      const log = this.#find(decision.jobId, decision.attempt);
      for (const frame of log?.unacked ?? []) send(frame);
    }
  }

  disconnect(): void {
    this.#send = null;
  }

  #find(jobId: string, attempt: number): AttemptLog | undefined {
    const log = this.#attempts.get(jobId);
    return log?.attempt === attempt ? log : undefined;
  }

  #flush(log: AttemptLog): void {
    if (log.items.length === 0) return;
    const items = log.items;
    log.items = [];
    this.#number(log, { type: "output", items });
  }

  #number(log: AttemptLog, frame: Unnumbered<NumberedFrame>): void {
    log.lastSeq += 1;
    const numbered: NumberedFrame = { ...frame, jobId: log.jobId, attempt: log.attempt, seq: log.lastSeq };
    log.unacked.push(numbered);
    this.#send?.(numbered);
  }
}
