import { isInteractive } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { type JobError, RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { MAX_LINE_BYTES, MAX_WAITING_BYTES, MAX_WAITING_LINES } from "../../shared/job-input.ts";
import type { HeldInput } from "../../shared/protocol/from-island.ts";
import { isTerminal } from "../../shared/job-state.ts";
import type { ActiveJob } from "./active-job.ts";
import type { ActiveJobs } from "./active-jobs.ts";
import { type InputReceipt, type InputRequest, InputSession } from "./input-session.ts";
import type { MutableJob } from "./mutable-job.ts";

/** Of all jobs of an account, and of all accounts. */
const MAX_ACCOUNT_BYTES = 4 * MIB;
const MAX_ALL_BYTES = 64 * MIB;
/** Lines of one job, in all. */
const MAX_LINES = 1_000_000;
/** How long the answer waits for the program to take the line. */
const MAX_WAIT_MS = 2_000;
const RETRY_AFTER_S = 1;

/** Lines that clients send to running jobs, on their way to the Islands. They are in memory only. */
export class JobInputs {
  readonly #active: ActiveJobs;
  readonly #clock: Pick<Clock, "schedule">;
  /** By job id. */
  readonly #sessions = new Map<string, InputSession>();
  readonly #accountBytes = new Map<string, number>();
  #allBytes = 0;

  constructor(active: ActiveJobs, clock: Pick<Clock, "schedule">) {
    this.#active = active;
    this.#clock = clock;
    active.subscribe((event) => {
      if (event.type === "job_ended" || event.type === "job_dropped") this.#drop(event.job);
    });
  }

  /**
   * Takes a line for a job. Resolves when the program was given it, or after 2 s.
   * @throws {ServiceError} `job_not_running`, `input_closed`, `input_out_of_order`, `payload_too_large`; {@link RateLimitedError} while too
   * much waits for the program.
   */
  async take(jobId: string, { line, seq }: InputRequest): Promise<InputReceipt> {
    const job = this.#active.require(jobId);
    const session = this.#sessionOf(job);
    if (seq !== undefined && seq <= session.lastSeq) return session.receipt(seq, true);
    if (session.hasEnd) throw new ServiceError("input_closed", "The input of the job has ended");
    if (session.lastSeq >= MAX_LINES) {
      throw new ServiceError("input_closed", `The job has taken ${MAX_LINES} lines, and takes no more`);
    }
    if (seq !== undefined && seq !== session.lastSeq + 1) {
      const message = `Number ${seq} does not follow: the next one is ${session.lastSeq + 1}`;
      throw new ServiceError("input_out_of_order", message);
    }
    const bytes = line === null ? 0 : Buffer.byteLength(line);
    this.#admit(job, session, bytes);
    this.#count(job.accountId, bytes);
    const taken = session.lastSeq + 1;
    session.add(line ?? undefined, bytes);
    this.flush(jobId);
    await session.untilTaken(taken, MAX_WAIT_MS, this.#clock);
    return session.receipt(taken, false);
  }

  /** The program was given its input up to a number. The caller has checked that the job's Island says so. */
  noteTaken(jobId: string, seq: number): void {
    const session = this.#sessions.get(jobId);
    if (session === undefined) return;
    const job = this.#active.require(jobId);
    this.#count(job.accountId, -session.take(seq));
    this.#active.noteSign(job);
    this.flush(jobId);
  }

  /** The Island has come back with the job. What it did not get before goes out with the next {@link flush}. */
  noteReturn(jobId: string, { received, taken, hasEnd }: HeldInput): void {
    const known = this.#sessions.get(jobId);
    const session = known ?? new InputSession();
    this.#sessions.set(jobId, session);
    // After a restart the Island alone knows how much there was.
    if (known === undefined) session.restore(received, hasEnd);
    this.noteTaken(jobId, taken);
    session.sendAgainAfter(received);
  }

  /** Sends what the Island has room for. */
  flush(jobId: string): void {
    const session = this.#sessions.get(jobId);
    if (session === undefined) return;
    const job = this.#active.require(jobId);
    for (let next = session.nextToSend(); next !== undefined; next = session.nextToSend()) {
      this.#active.emit({ type: "input_due", job, seq: next.seq, line: next.line });
    }
  }

  /** Neither input nor output came for as long as a session may be idle. Resolves when the job's end is durable. */
  expireIdle(jobId: string): Promise<void> {
    const job = this.#active.require(jobId);
    const limitS = this.#active.phaseLimitMs(job) / 1_000;
    const message = `The job was idle: neither input nor output for ${limitS} s`;
    const error: JobError = { code: "run_timeout", message, retryable: false };
    return this.#active.stop(job, "timeout", { event: "expire", error });
  }

  /** Requests that wait for a program are answered. */
  close(): void {
    for (const session of this.#sessions.values()) session.close();
  }

  #sessionOf(job: MutableJob): InputSession {
    if (!isInteractive(this.#active.cargoOf(job))) {
      throw new ServiceError("input_closed", "Jobs of this Cargo take no input while they run");
    }
    if (job.state !== "running") {
      const ended = isTerminal(job.state) ? " already" : "; it takes input once it runs";
      throw new ServiceError("job_not_running", `The job is ${job.state}${ended}`);
    }
    // Restored, it takes more once its Island has said how much it has.
    if (!job.isAccepted) {
      throw new ServiceError("job_not_running", "The job's Island is away; try again when it is back");
    }
    const session = this.#sessions.get(job.id) ?? new InputSession();
    this.#sessions.set(job.id, session);
    return session;
  }

  #admit({ accountId }: MutableJob, session: InputSession, bytes: number): void {
    if (bytes > MAX_LINE_BYTES) {
      throw new ServiceError(
        "payload_too_large",
        `The line has ${bytes} bytes as JSON; at most ${MAX_LINE_BYTES} are taken`,
      );
    }
    const isFull =
      session.waitingLines >= MAX_WAITING_LINES ||
      session.waitingBytes + bytes > MAX_WAITING_BYTES ||
      (this.#accountBytes.get(accountId) ?? 0) + bytes > MAX_ACCOUNT_BYTES ||
      this.#allBytes + bytes > MAX_ALL_BYTES;
    if (isFull) throw new RateLimitedError("input_backlog", RETRY_AFTER_S);
  }

  #count(accountId: string, bytes: number): void {
    const sum = (this.#accountBytes.get(accountId) ?? 0) + bytes;
    if (sum === 0) this.#accountBytes.delete(accountId);
    else this.#accountBytes.set(accountId, sum);
    this.#allBytes += bytes;
  }

  #drop({ id, accountId }: Pick<ActiveJob, "id" | "accountId">): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    this.#count(accountId, -session.waitingBytes);
    session.close();
  }
}
