import { expect } from "vitest";
import {
  IllegalTransitionError,
  JOB_TRANSITIONS,
  type JobEvent,
  type JobState,
  JOB_EVENTS,
  JOB_STATES,
  statesAllowing,
} from "../../../../shared/job-state.ts";
import { MAX_LISTED_INPUT_BYTES } from "../../../../coordinator/store/jobs/job-lists.ts";
import type { JobEnding, JobMove } from "../../../../coordinator/store/jobs/job-store.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import {
  type Check,
  endUncharged,
  ISLAND_ID,
  MADE_AT_MS,
  makeAccount,
  makeEnding,
  makeJob,
  runJob,
} from "./store-builders.ts";

const HOUR_MS = 3_600_000;
const ENDINGS: readonly JobEvent[] = ["complete", "fail", "cancel", "expire"];

/** Applies `event` to attempt 1, or a second `assign` to attempt 2. */
async function apply(store: Store, jobId: string, event: JobEvent, attempt: number): Promise<void> {
  if (ENDINGS.includes(event)) {
    await endUncharged(store, jobId, { event: event as JobEnding["event"], attempt });
    return;
  }
  await store.jobs.move({ jobId, event: event as JobMove["event"], attempt, islandId: ISLAND_ID, atMs: MADE_AT_MS });
}

/** Returns the events that lead a new job to `state`. */
const PATHS: Record<JobState, readonly JobEvent[]> = {
  pending: [],
  queued: ["assign"],
  running: ["assign", "start"],
  completed: ["assign", "start", "complete"],
  failed: ["assign", "start", "fail"],
  cancelled: ["cancel"],
  timeout: ["expire"],
};

export function describeJobs(check: Check): void {
  check("jobs.get() returns undefined for an unknown id, while input() and the writes reject", async (store) => {
    expect(await store.jobs.get("job_none")).toBeUndefined();
    await expect(store.jobs.input("job_none")).rejects.toMatchObject({ code: "not_found" });
    await expect(apply(store, "job_none", "start", 1)).rejects.toMatchObject({ code: "not_found" });
    await expect(apply(store, "job_none", "cancel", 0)).rejects.toMatchObject({ code: "not_found" });
    await expect(store.jobs.appendFeed({ jobId: "job_none", attempt: 1, seq: 1, items: [] })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  for (const event of JOB_EVENTS) {
    const legal = statesAllowing(event);
    check(`jobs: ${event} is applied to ${legal.join(", ")} jobs and refused for all others`, async (store) => {
      const accountId = await makeAccount(store);
      for (const state of JOB_STATES) {
        const job = makeJob(accountId);
        await store.jobs.submit(job);
        for (const step of PATHS[state]) await apply(store, job.id, step, PATHS[state].includes("assign") ? 1 : 0);
        const before = await store.jobs.get(job.id);
        expect(before?.state).toBe(state);
        const present = before?.attempt ?? 0;
        const applied = apply(store, job.id, event, event === "assign" ? present + 1 : present);
        if (legal.includes(state)) {
          await applied;
          const row: Partial<Record<JobEvent, JobState>> = JOB_TRANSITIONS[state];
          expect((await store.jobs.get(job.id))?.state).toBe(row[event]);
        } else {
          await expect(applied).rejects.toEqual(new IllegalTransitionError(state, event));
          await expect(applied).rejects.toBeInstanceOf(IllegalTransitionError);
          expect(await store.jobs.get(job.id)).toEqual(before);
        }
      }
    });
  }

  check("jobs.move() and end() of a superseded attempt change nothing", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job, 1);
    await apply(store, job.id, "lose", 1);
    await expect(apply(store, job.id, "assign", 1)).rejects.toBeInstanceOf(IllegalTransitionError);
    await apply(store, job.id, "assign", 2);
    for (const event of ["start", "lose", "fail", "cancel"] as const) {
      await expect(apply(store, job.id, event, 1)).rejects.toBeInstanceOf(IllegalTransitionError);
      await expect(apply(store, job.id, event, 3)).rejects.toBeInstanceOf(IllegalTransitionError);
    }
    expect(await store.jobs.get(job.id)).toMatchObject({ state: "queued", attempt: 2 });
  });

  check(
    "jobs.move() stores the Island and the start, and after a loss clears both but keeps the attempt",
    async (store) => {
      const job = makeJob(await makeAccount(store));
      await runJob(store, job);
      const running = { state: "running", attempt: 1, islandId: ISLAND_ID, startedAtMs: MADE_AT_MS + 2_000 };
      expect(await store.jobs.get(job.id)).toMatchObject(running);
      await apply(store, job.id, "lose", 1);
      const lost = { state: "pending", attempt: 1, islandId: null, startedAtMs: null };
      expect(await store.jobs.get(job.id)).toMatchObject(lost);
    },
  );

  check("jobs.end() stores output, usage, timings, finish reason and charge", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    const ending = makeEnding(job, { output: { format: "png", data: "aGk=" } });
    await store.jobs.end(ending);
    const { output, usage, timings, finishReason } = ending;
    expect(await store.jobs.get(job.id)).toMatchObject({
      state: "completed",
      output,
      usage,
      timings,
      finishReason,
      error: null,
      creditsUsedMicro: 1_000_000,
      completedAtMs: MADE_AT_MS + 5_000,
      islandId: ISLAND_ID,
    });
  });

  check("jobs.end() distinguishes an output of null from no output, which is the feed's text", async (store) => {
    const accountId = await makeAccount(store);
    const [first, second] = [makeJob(accountId), makeJob(accountId)];
    await runJob(store, first);
    await runJob(store, second);
    await store.jobs.end(makeEnding(first, { output: null }));
    await store.jobs.end(makeEnding(second));
    expect((await store.jobs.get(first.id))?.output).toBeNull();
    expect((await store.jobs.get(second.id))?.output).toBe("");
  });

  check("jobs.end() stores the error of a failed job, and no output", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    const error = { code: "out_of_memory", message: "no room", retryable: true } as const;
    await store.jobs.end(
      makeEnding(job, {
        event: "fail",
        error,
        usage: null,
        timings: null,
        finishReason: null,
        output: "x",
        chargeMicro: 0,
      }),
    );
    const failed = { state: "failed", error, usage: null, timings: null, finishReason: null, output: undefined };
    expect(await store.jobs.get(job.id)).toMatchObject(failed);
  });

  check("jobs.list() returns the account's own jobs in pages, newest first", async (store) => {
    const accountId = await makeAccount(store);
    const jobs = Array.from({ length: 5 }, () => makeJob(accountId));
    // The jobs are in the order of their ids, not of the calls.
    for (const job of jobs.toReversed()) await store.jobs.submit(job);
    await store.jobs.submit(makeJob(await makeAccount(store)));
    const page = await store.jobs.list(accountId, { limit: 2, offset: 1 }, {});
    expect(page.total).toBe(5);
    expect(page.jobs.map(({ id }) => id)).toEqual([jobs[3]?.id, jobs[2]?.id]);
    expect(page.jobs[0]).toEqual({
      id: jobs[3]?.id,
      batchId: null,
      slug: "tiny-chat",
      state: "pending",
      createdAtMs: MADE_AT_MS,
      completedAtMs: null,
      workloadId: 1,
      input: { prompt: "Say: atoll" },
    });
    expect(await store.jobs.list(accountId, { limit: 2, offset: 9 }, {})).toEqual({ jobs: [], total: 5 });
  });

  check("jobs.list() returns inputs of up to 4 KB, and null for longer ones", async (store) => {
    const accountId = await makeAccount(store);
    const promptOf = (bytes: number) => ({ prompt: "é".repeat((bytes - JSON.stringify({ prompt: "" }).length) / 2) });
    const inputs = [promptOf(MAX_LISTED_INPUT_BYTES - 1), promptOf(MAX_LISTED_INPUT_BYTES + 1)];
    for (const input of inputs) await store.jobs.submit(makeJob(accountId, { input }));
    const listed = async () => (await store.jobs.list(accountId, { limit: 9, offset: 0 }, {})).jobs;
    expect((await listed()).map(({ input }) => input)).toEqual([null, inputs[0]]);
  });

  check("jobs.list() filters by states, by Cargo and by both", async (store) => {
    const accountId = await makeAccount(store);
    const chat = makeJob(accountId);
    const image = makeJob(accountId, { slug: "image" });
    const cancelled = makeJob(accountId, { slug: "image" });
    for (const job of [chat, image, cancelled]) await store.jobs.submit(job);
    await apply(store, cancelled.id, "cancel", 0);
    const ids = async (filter: Parameters<Store["jobs"]["list"]>[2]): Promise<string[]> => {
      const { jobs, total } = await store.jobs.list(accountId, { limit: 100, offset: 0 }, filter);
      expect(total).toBe(jobs.length);
      return jobs.map(({ id }) => id);
    };
    expect(await ids({ states: ["pending"] })).toEqual([image.id, chat.id]);
    expect(await ids({ states: ["pending", "cancelled"] })).toEqual([cancelled.id, image.id, chat.id]);
    expect(await ids({ slug: "image" })).toEqual([cancelled.id, image.id]);
    expect(await ids({ states: ["cancelled"], slug: "image" })).toEqual([cancelled.id]);
    expect(await ids({ states: [] })).toEqual([]);
  });

  check("jobs.list() accepts a limit of 1 to 100", async (store) => {
    for (const limit of [0, 101, 1.5]) {
      await expect(store.jobs.list("user_1", { limit, offset: 0 }, {})).rejects.toBeInstanceOf(RangeError);
    }
    await expect(store.jobs.list("user_1", { limit: 1, offset: -1 }, {})).rejects.toBeInstanceOf(RangeError);
  });

  check("jobs.unfinished() returns all unfinished jobs, oldest first", async (store) => {
    const accountId = await makeAccount(store);
    const [ended, running, pending] = [makeJob(accountId), makeJob(accountId), makeJob(await makeAccount(store))];
    await store.jobs.submit(pending);
    await runJob(store, running);
    await store.jobs.submit(ended);
    await apply(store, ended.id, "cancel", 0);
    // Some stores return in addition whether the job holds a quota slot.
    const unfinished = (await store.jobs.unfinished()).map(({ holdsQuota: _holdsQuota, ...job }) => job);
    expect(unfinished).toEqual([
      {
        id: running.id,
        accountId,
        batchId: null,
        slug: "tiny-chat",
        state: "running",
        jobClass: "batch",
        share: null,
        priority: 50,
        priceMicro: 1_000_000,
        rates: null,
        terms: null,
        attempt: 1,
        refusals: 0,
        islandId: ISLAND_ID,
        createdAtMs: MADE_AT_MS,
        startedAtMs: MADE_AT_MS + 2_000,
        waitDeadlineMs: MADE_AT_MS + HOUR_MS,
        isClientBound: false,
      },
      expect.objectContaining({ id: pending.id, state: "pending" }),
    ]);
  });

  check("jobs.feed() joins chunks in the order of their appends", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    const token = (content: string) => ({ type: "token", content, count: 1 }) as const;
    const status = { type: "status", state: "running" } as const;
    await Promise.all([
      store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: null, items: [status] }),
      store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: 1, items: [token("a"), token("b")] }),
      store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: 2, items: [token("c")] }),
      store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: null, items: [status] }),
      store.jobs.appendFeed({ jobId: job.id, attempt: 2, seq: 1, items: [token("d")] }),
    ]);
    const parts = [
      { attempt: 1, items: [status] },
      { attempt: 1, items: [token("a"), token("b")] },
      { attempt: 1, items: [token("c")] },
      { attempt: 1, items: [status] },
      { attempt: 2, items: [token("d")] },
    ];
    expect(await store.jobs.feed(job.id)).toEqual(parts);
    expect((await store.jobs.feedProgress(job.id, 1)).lastSeq).toBe(2);
    expect((await store.jobs.feedProgress(job.id, 2)).lastSeq).toBe(1);
    expect((await store.jobs.feedProgress(job.id, 3)).lastSeq).toBe(0);
  });

  check("jobs.appendFeed() of a stored frame changes nothing", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    const token = { type: "token", content: "a", count: 1 } as const;
    await store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: 1, items: [token] });
    await store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: 1, items: [{ ...token, content: "b" }] });
    expect((await store.jobs.feed(job.id)).flatMap(({ items }) => items)).toEqual([token]);
  });

  check("jobs.completionsSince() counts completed jobs by Cargo, from the given time", async (store) => {
    const accountId = await makeAccount(store);
    const end = async (slug: string, atMs: number, event: JobEnding["event"] = "complete"): Promise<void> => {
      const job = makeJob(accountId, { slug, priceMicro: 0 });
      await runJob(store, job);
      await store.jobs.end(makeEnding(job, { atMs, event, chargeMicro: 0 }));
    };
    await end("a", 99);
    await end("a", 100);
    await end("a", 101);
    await end("b", 101);
    await end("b", 101, "fail");
    expect(await store.jobs.completionsSince(100)).toEqual(
      new Map([
        ["a", 2],
        ["b", 1],
      ]),
    );
  });
}
