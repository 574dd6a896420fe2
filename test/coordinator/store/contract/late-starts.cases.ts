import { expect } from "vitest";
import { IllegalTransitionError, JOB_TRANSITIONS } from "../../../../shared/job-state.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { type Check, endUncharged, ISLAND_ID, MADE_AT_MS, makeAccount, makeJob } from "./store-builders.ts";

/** Declares ends of jobs whose start is not stored yet. */
export function describeLateStarts(check: Check): void {
  for (const event of ["complete", "fail", "cancel", "expire"] as const) {
    check(`jobs.end() as ${event} stores a start with the end, if both moves are allowed`, async (store) => {
      const startedAtMs = MADE_AT_MS + 2_000;
      for (const state of ["pending", "queued", "running", "failed"] as const) {
        const job = makeJob(await makeAccount(store));
        await store.jobs.submit(job);
        const move = { jobId: job.id, attempt: 1, islandId: ISLAND_ID, atMs: MADE_AT_MS };
        if (state !== "pending") await store.jobs.move({ ...move, event: "assign" });
        if (state === "running" || state === "failed") await store.jobs.move({ ...move, event: "start" });
        if (state === "failed") await endUncharged(store, job.id, { event: "fail" });
        const before = await store.jobs.get(job.id);
        const end = (attempt: number): ReturnType<Store["jobs"]["end"]> =>
          endUncharged(store, job.id, { event, attempt, startedAtMs });

        await expect(end(2)).rejects.toBeInstanceOf(IllegalTransitionError);
        if (state === "queued") {
          await end(1);
          expect(await store.jobs.get(job.id)).toMatchObject({ state: JOB_TRANSITIONS.running[event], startedAtMs });
        } else {
          await expect(end(before?.attempt ?? 0)).rejects.toEqual(new IllegalTransitionError(state, "start"));
          expect(await store.jobs.get(job.id)).toEqual(before);
        }
      }
    });
  }
}
