import type { Clock } from "../../shared/clock.ts";
import { WINDOW_BYTES, WINDOW_LINES } from "../../shared/job-input.ts";

/** What a client sends to a running job. */
export interface InputRequest {
  /** One line of JSON without its line feed; null: the end of the input. */
  readonly line: string | null;
  /** Its number in the job, from 1 on; absent: the next one. A number that came before changes nothing. */
  readonly seq?: number | undefined;
}

/** What became of it. */
export interface InputReceipt {
  readonly seq: number;
  /** The job's program was given it. False: it waits in the memory of the coordinator or of the Island. */
  readonly isTaken: boolean;
  /** It had come before. */
  readonly isRepeat: boolean;
  /** Of all lines of the job that its program was not given yet. */
  readonly waitingBytes: number;
}

interface Line {
  readonly seq: number;
  /** Undefined: the end of the input. */
  readonly line: string | undefined;
  readonly bytes: number;
}

/** The input that one running job is sent: what has come, what its Island has, and what its program was given. */
export class InputSession {
  /** Those that the program was not given, oldest first. */
  readonly #waiting: Line[] = [];
  /** Called when the program was given a line. */
  readonly #waiters = new Set<{ readonly seq: number; readonly resolve: () => void }>();
  #waitingBytes = 0;
  #lastSeq = 0;
  #sentSeq = 0;
  #takenSeq = 0;
  #hasEnd = false;

  /** The number of the last line; 0 before the first. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get hasEnd(): boolean {
    return this.#hasEnd;
  }

  get waitingLines(): number {
    return this.#waiting.length;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  receipt(seq: number, isRepeat: boolean): InputReceipt {
    return { seq, isTaken: seq <= this.#takenSeq, isRepeat, waitingBytes: this.#waitingBytes };
  }

  /** @param line undefined: the end. */
  add(line: string | undefined, bytes: number): void {
    this.#lastSeq += 1;
    this.#waiting.push({ seq: this.#lastSeq, line, bytes });
    this.#waitingBytes += bytes;
    this.#hasEnd = line === undefined;
  }

  /** The next line that the Island is to get, which then counts as sent; undefined while it has as much as it may. */
  nextToSend(): Line | undefined {
    const inFlight = this.#waiting.filter(({ seq }) => seq <= this.#sentSeq);
    const next = this.#waiting[inFlight.length];
    if (next === undefined) return undefined;
    const bytes = inFlight.reduce((sum, line) => sum + line.bytes, next.bytes);
    if (inFlight.length > 0 && (inFlight.length >= WINDOW_LINES || bytes > WINDOW_BYTES)) return undefined;
    this.#sentSeq = next.seq;
    return next;
  }

  /** The program was given its input up to `seq`. Returns the bytes that wait no longer. */
  take(seq: number): number {
    // An Island cannot have given away what it was not sent.
    this.#takenSeq = Math.max(this.#takenSeq, Math.min(seq, this.#sentSeq));
    const before = this.#waitingBytes;
    while (this.#waiting[0] !== undefined && this.#waiting[0].seq <= this.#takenSeq) {
      this.#waitingBytes -= this.#waiting.shift()?.bytes ?? 0;
    }
    for (const waiter of this.#waiters) if (waiter.seq <= this.#takenSeq) waiter.resolve();
    return before - this.#waitingBytes;
  }

  /** The Island has come back with the lines up to `received`: those after it are sent again. */
  sendAgainAfter(received: number): void {
    this.#sentSeq = Math.max(this.#takenSeq, Math.min(received, this.#sentSeq));
  }

  /** Goes on after what the Island has, of which nothing is known here. */
  restore(received: number, hasEnd: boolean): void {
    this.#lastSeq = received;
    this.#sentSeq = received;
    this.#hasEnd = hasEnd;
  }

  /** Resolves when the program was given the line, after `ms`, and when the session is over. */
  untilTaken(seq: number, ms: number, clock: Pick<Clock, "schedule">): Promise<void> {
    if (seq <= this.#takenSeq) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        this.#waiters.delete(waiter);
        resolve();
      };
      const timer = clock.schedule(ms, end);
      const waiter = { seq, resolve: end };
      this.#waiters.add(waiter);
    });
  }

  close(): void {
    for (const waiter of this.#waiters) waiter.resolve();
  }
}
