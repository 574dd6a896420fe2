import { ServiceError } from "../../../shared/errors.ts";
import type { BatchLine } from "./batch-lines.ts";
import type { BatchHold, EarlyEnd } from "./batch-hold.ts";
import type { FileBatchDeps } from "./file-batch-deps.ts";
import { earlierLineJobs, lineJobs, NoAnswerError } from "./line-jobs.ts";
import type { ResultFile } from "./result-file.ts";

/** Lines of one account under way, at most; an account with few places for jobs has half of them. */
const LINES_AT_ONCE = 8;
const RETRY_MS = 1_000;
/** Of a batch that ends early, for jobs that other coordinators have. */
const EARLIER_TRIES = 30;
const OK = 200;
/** Another try may do: the line waits for it until its batch ends. */
const TEMPORARY: ReadonlySet<string> = new Set([
  "rate_limited",
  "storage_unavailable",
  "cluster_unavailable",
  "overloaded",
  "shutting_down",
  "disk_full",
]);
const EARLY_ENDS: Record<EarlyEnd, { readonly code: string; readonly message: string }> = {
  cancelled: { code: "batch_cancelled", message: "The batch was cancelled before this request was answered" },
  expired: { code: "batch_expired", message: "The batch's completion window ended before this request was answered" },
};

/** Lines under way of all batches of an account at this coordinator. */
export type UnderWay = Set<Promise<void>>;

/** Where the results of lines go. */
export interface Results {
  readonly output: ResultFile;
  readonly failures: ResultFile;
}

interface LineAnswer {
  readonly status: number;
  readonly body: object;
}

/** Answers the lines of a batch, some at once, and writes their results. */
export class LinePool {
  readonly #deps: Pick<FileBatchDeps, "jobs" | "endpoints" | "clock">;
  readonly #hold: BatchHold;
  readonly #results: Results;
  readonly #underWay: UnderWay;
  readonly #own: UnderWay = new Set();
  /** Of each line that waits for an answer. */
  readonly #waiting = new Set<AbortController>();
  #fault: { readonly error: unknown } | null = null;
  #completed = 0;
  #failed = 0;

  constructor(
    deps: Pick<FileBatchDeps, "jobs" | "endpoints" | "clock">,
    hold: BatchHold,
    results: Results,
    underWay: UnderWay,
  ) {
    [this.#deps, this.#hold, this.#results, this.#underWay] = [deps, hold, results, underWay];
    hold.watch(
      () => this.#touch(),
      () => this.#wake(),
    );
    hold.stopped.addEventListener("abort", () => this.#wake(), { once: true });
  }

  /** Resolves when there is room for another line. @throws what a line's result threw; the reason when the batch is left to others */
  async add(line: BatchLine): Promise<void> {
    // Lines of the account's other batches end too, one after the other.
    // oxlint-disable-next-line no-await-in-loop
    while (this.#underWay.size >= this.#mostAtOnce()) await Promise.race(this.#underWay);
    this.#check();
    const done: Promise<void> = this.#run(line)
      .catch((error: unknown) => {
        this.#fault ??= { error };
      })
      .then(() => {
        this.#underWay.delete(done);
        this.#own.delete(done);
      });
    this.#underWay.add(done);
    this.#own.add(done);
  }

  /** Waits for the lines under way, whatever becomes of them. */
  async settled(): Promise<void> {
    await Promise.all(this.#own);
  }

  /** After all lines. @throws as {@link add} does */
  async finished(): Promise<void> {
    await this.settled();
    this.#check();
    this.#hold.count({ completed: this.#completed, failed: this.#failed });
  }

  #check(): void {
    this.#hold.stopped.throwIfAborted();
    if (this.#fault !== null) throw this.#fault.error;
  }

  #mostAtOnce(): number {
    const { concurrentJobs } = this.#hold.submitter.limits;
    return Math.min(LINES_AT_ONCE, Math.max(1, Math.floor(concurrentJobs / 2)));
  }

  async #run(line: BatchLine): Promise<void> {
    const { id: batchId } = this.#hold.batch;
    const requestId = `batch_req_${batchId.slice(batchId.indexOf("_") + 1)}_${line.number}`;
    const answer = await this.#answer(line, requestId);
    if (this.#hold.stopped.aborted) return;
    const { early } = this.#hold;
    const id = { id: requestId, custom_id: line.customId };
    if (answer !== null) {
      const { status, body } = answer;
      const response = { status_code: status, request_id: requestId, body };
      await (status === OK ? this.#results.output : this.#results.failures).write({ ...id, response, error: null });
    } else await this.#results.failures.write({ ...id, response: null, error: early && EARLY_ENDS[early] });
    if (answer?.status === OK) this.#completed += 1;
    else this.#failed += 1;
    // After another coordinator's crash the first lines are counted again.
    const { completed, failed } = this.#hold.progress;
    this.#hold.count({ completed: Math.max(completed, this.#completed), failed: Math.max(failed, this.#failed) });
  }

  /** Null when the batch ends early or is left to others. */
  async #answer(line: BatchLine, requestId: string): Promise<LineAnswer | null> {
    const { endpoints, jobs, clock } = this.#deps;
    const hold = this.#hold;
    const { batch } = hold;
    const isCancelled = (): boolean => hold.early !== null;
    while (hold.early === null && !hold.stopped.aborted) {
      const waiting = new AbortController();
      this.#waiting.add(waiting);
      const { signal: gone } = waiting;
      try {
        const ofLine = lineJobs(jobs, { batchId: batch.id, line: line.number, isCancelled });
        const { submitter } = hold;
        const { endpoint } = batch.request;
        // oxlint-disable-next-line no-await-in-loop
        const body = await endpoints.answer({ endpoint, body: line.body, submitter, jobs: ofLine, gone });
        if (body !== null) return { status: OK, body };
      } catch (error) {
        if (!(error instanceof ServiceError) || !TEMPORARY.has(error.code))
          return endpoints.refusalOf(error, requestId);
        // oxlint-disable-next-line no-await-in-loop
        await clock.sleep(RETRY_MS, gone).catch(() => undefined);
      } finally {
        this.#waiting.delete(waiting);
      }
    }
    return hold.stopped.aborted ? null : this.#earlierAnswer(line, requestId);
  }

  /** Of a batch that ends early: what was answered, and so paid for, before. Null if nothing was. */
  async #earlierAnswer(line: BatchLine, requestId: string): Promise<LineAnswer | null> {
    const { endpoints, jobs, clock } = this.#deps;
    const { batch, submitter, stopped: gone } = this.#hold;
    const { endpoint } = batch.request;
    for (let tries = 0; tries < EARLIER_TRIES && !gone.aborted; tries += 1) {
      const ofLine = earlierLineJobs(jobs, { batchId: batch.id, line: line.number, sinceMs: batch.createdAtMs });
      try {
        // oxlint-disable-next-line no-await-in-loop
        const body = await endpoints.answer({ endpoint, body: line.body, submitter, jobs: ofLine, gone });
        return body && { status: OK, body };
      } catch (error) {
        if (error instanceof NoAnswerError) return null;
        if (!(error instanceof ServiceError) || !TEMPORARY.has(error.code))
          return endpoints.refusalOf(error, requestId);
        // oxlint-disable-next-line no-await-in-loop
        await clock.sleep(RETRY_MS, gone).catch(() => undefined);
      }
    }
    return null;
  }

  #wake(): void {
    for (const waiting of this.#waiting) waiting.abort();
  }

  async #touch(): Promise<void> {
    await Promise.all([this.#results.output.touch(), this.#results.failures.touch()]);
  }
}
