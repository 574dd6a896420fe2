import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { MAY_QUOTE, type JobFailure } from "../../shared/errors.ts";
import { writeFileDurably } from "../disk/durable-file.ts";

/** Jobs that are kept; the oldest is forgotten. */
export const MAX_JOBS = 200;
/** Jobs that end within this time share a write. */
const WRITE_DELAY_MS = 2_000;

const MAX_WHY_CHARS = 300;

const endedJobSchema = z.object({
  jobId: z.string().max(64),
  slug: z.string().max(100),
  startedAtMs: z.number(),
  runMs: z.number(),
  outcome: z.enum(["completed", "failed", "cancelled"]),
  /** Why it failed. Absent for another outcome, and for jobs of earlier versions. */
  why: z.string().max(MAX_WHY_CHARS).optional(),
});
/** How an attempt ended here. Neither what was asked nor what was answered. */
export type EndedJob = z.infer<typeof endedJobSchema>;

/** The failure for the owner: its message, or its code alone where the message may quote what was asked. */
export function whyFailed({ code, message }: Pick<JobFailure, "code" | "message">): string {
  return (MAY_QUOTE.has(code) ? code : message).slice(0, MAX_WHY_CHARS);
}

/** The last jobs that ran here, in a file of the data directory. A power cut loses those of the last seconds. */
export class JobHistory implements AsyncDisposable {
  readonly #path: string;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #log: Pick<Logger, "warn">;
  /** Newest last. */
  #jobs: EndedJob[];
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, jobs: EndedJob[], clock: Pick<Clock, "schedule">, log: Pick<Logger, "warn">) {
    this.#path = path;
    this.#jobs = jobs;
    this.#clock = clock;
    this.#log = log;
  }

  /** A file that cannot be read is as none. */
  static async open(
    dataDirectory: string,
    clock: Pick<Clock, "schedule">,
    log: Pick<Logger, "warn">,
  ): Promise<JobHistory> {
    const path = join(dataDirectory, "history.json");
    return new JobHistory(path, await readJobs(path), clock, log);
  }

  /** Newest first. */
  list(): EndedJob[] {
    return this.#jobs.toReversed();
  }

  add(job: EndedJob): void {
    this.#jobs = [...this.#jobs, job].slice(-MAX_JOBS);
    this.#timer ??= this.#clock.schedule(WRITE_DELAY_MS, () => this.#write());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) this.#write();
    await this.#writing;
  }

  #write(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#writing = this.#writing
      .then(() => writeFileDurably(this.#path, JSON.stringify(this.#jobs)))
      .catch((error: unknown) => this.#log.warn({ reason: String(error) }, "The history of jobs could not be stored"));
  }
}

async function readJobs(path: string): Promise<EndedJob[]> {
  try {
    const jobs = z.array(endedJobSchema).safeParse(JSON.parse(await readFile(path, "utf8")));
    return (jobs.data ?? []).slice(-MAX_JOBS);
  } catch {
    return [];
  }
}
