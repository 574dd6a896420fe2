import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { MAY_QUOTE, type JobFailure } from "../../shared/errors.ts";
import { writeFileDurably } from "../disk/durable-file.ts";

/** Maximum number of jobs kept; older ones are dropped. */
export const MAX_JOBS = 200;
/** Jobs that end within this time share a write. */
const WRITE_DELAY_MS = 2_000;

const MAX_REASON_CHARS = 300;

const endedJobSchema = z.object({
  jobId: z.string().max(64),
  slug: z.string().max(100),
  startedAtMs: z.number(),
  runMs: z.number(),
  outcome: z.enum(["completed", "failed", "cancelled"]),
  /** Reason of a failure. Absent for other outcomes, and for jobs of earlier versions. */
  why: z.string().max(MAX_REASON_CHARS).optional(),
});
/** Outcome of an attempt on this Island. Contains neither input nor output. */
export type EndedJob = z.infer<typeof endedJobSchema>;

/** Returns the failure for the owner: its message, or only its code if the message may quote the input. */
export function failureReasonOf({ code, message }: Pick<JobFailure, "code" | "message">): string {
  return (MAY_QUOTE.has(code) ? code : message).slice(0, MAX_REASON_CHARS);
}

/**
 * Opens the history of recent jobs, a file in the data directory. A power cut loses the jobs of the last few seconds. An
 * unreadable file counts as empty.
 */
export async function openJobHistory(dataDirectory: string, clock: Pick<Clock, "schedule">, log: Pick<Logger, "warn">) {
  const path = join(dataDirectory, "history.json");
  let jobs = await readJobs(path);
  let timer: Timer | null = null;
  let writing: Promise<void> = Promise.resolve();

  function list(): EndedJob[] {
    return jobs.toReversed();
  }

  function add(job: EndedJob): void {
    jobs = [...jobs, job].slice(-MAX_JOBS);
    timer ??= clock.schedule(WRITE_DELAY_MS, () => write());
  }

  function write(): void {
    timer?.cancel();
    timer = null;
    writing = writing
      .then(() => writeFileDurably(path, JSON.stringify(jobs)))
      .catch((error: unknown) => log.warn({ reason: String(error) }, "Could not store the history of jobs"));
  }

  return {
    list,
    add,
    async [Symbol.asyncDispose](): Promise<void> {
      if (timer !== null) write();
      await writing;
    },
  };
}

export type JobHistory = Awaited<ReturnType<typeof openJobHistory>>;

async function readJobs(path: string): Promise<EndedJob[]> {
  try {
    const jobs = z.array(endedJobSchema).safeParse(JSON.parse(await readFile(path, "utf8")));
    return (jobs.data ?? []).slice(-MAX_JOBS);
  } catch {
    return [];
  }
}
