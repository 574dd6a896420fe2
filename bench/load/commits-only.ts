import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewJob } from "../../coordinator/store/jobs/job-store.ts";
import { openStore } from "../../coordinator/store/open-store.ts";
import type { Store } from "../../coordinator/store/store.ts";
import { systemClock } from "../../shared/clock.ts";
import { newId } from "../../shared/ids.ts";
import { ISLAND_ID, makeAccount, makeEnding, makeJob } from "../../test/coordinator/store/contract/store-builders.ts";
import { serveWorker } from "../harness/worker.ts";
import { machineMs, tokenAt } from "./frames.ts";

/** Worker process: does only the work of the store for chats and jobs, with the same writes as a coordinator. */

export interface Commits {
  /**
   * `chat`: a job that finds a free Island at once. `job`: a job that already waits; only the following steps are
   * measured.
   */
  readonly kind: "chat" | "job";
  readonly count: number;
  /** Number of concurrent jobs, each of which waits for its commits. */
  readonly parallel: number;
  readonly tokens: number;
}

const PRICE_MICRO = 10;
const CREDITS_MICRO = 1_000_000_000_000;
const STATES = ["pending", "queued", "running", "streaming"].map((state) => ({ type: "status" as const, state }));
const WAIT_MS = 3_600_000;

let opened: { readonly store: Store; readonly accountId: string; readonly directory: string } | undefined;

function world(): NonNullable<typeof opened> {
  if (opened === undefined) throw new Error("The store is not open");
  return opened;
}

function newJob(): NewJob {
  const nowMs = systemClock.now();
  return makeJob(world().accountId, {
    id: newId("job", nowMs),
    createdAtMs: nowMs,
    waitDeadlineMs: nowMs + WAIT_MS,
    priceMicro: PRICE_MICRO,
  });
}

async function end(job: NewJob, tokens: number): Promise<void> {
  const { jobs } = world().store;
  const atMs = systemClock.now();
  const texts = Array.from({ length: tokens }, (_, index) => ({
    type: "token" as const,
    content: tokenAt(index),
    count: 1,
  }));
  const lastChunk = { jobId: job.id, attempt: 1, seq: tokens, items: [...STATES, ...texts] };
  await jobs.end(makeEnding(job, { atMs, startedAtMs: atMs, lastChunk }));
}

async function runChat(tokens: number): Promise<void> {
  const job = newJob();
  const submitted = world().store.jobs.submit({
    ...job,
    assignedTo: ISLAND_ID,
    jobClass: "chat",
    isClientBound: true,
  });
  await Promise.all([submitted, end(job, tokens)]);
}

async function runJob(job: NewJob, tokens: number): Promise<void> {
  const atMs = systemClock.now();
  await world().store.jobs.move({ jobId: job.id, event: "assign", attempt: 1, islandId: ISLAND_ID, atMs });
  await end(job, tokens);
}

/** @returns seconds. */
async function inParallel(count: number, parallel: number, work: (index: number) => Promise<void>): Promise<number> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  const beganMs = machineMs();
  await Promise.all(Array.from({ length: parallel }, loop));
  return (machineMs() - beganMs) / 1_000;
}

const waiting: NewJob[] = [];

const api = {
  async open(): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), "atoll-bench-commits-"));
    const store = await openStore(directory, systemClock);
    opened = { store, directory, accountId: await makeAccount(store, { grantMicro: CREDITS_MICRO }) };
  },
  /** Submits the jobs that `run` of kind `job` then ends. */
  async fill({ count }: { count: number }): Promise<void> {
    await inParallel(count, 500, async () => {
      const job = newJob();
      await world().store.jobs.submit(job);
      waiting.push(job);
    });
  },
  /** @returns seconds. */
  run({ kind, count, parallel, tokens }: Commits): Promise<number> {
    const jobs = kind === "job" ? waiting.splice(0, count) : [];
    return inParallel(count, parallel, (index) =>
      kind === "chat" ? runChat(tokens) : runJob(jobs[index] as NewJob, tokens),
    );
  },
  async close(): Promise<void> {
    const { store, directory } = world();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  },
};
export type CommitsApi = typeof api;
serveWorker(api);
