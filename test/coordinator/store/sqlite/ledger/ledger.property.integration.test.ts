import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { holdPostings } from "../../../../../coordinator/credits/postings.ts";
import { settle } from "../../../../../coordinator/credits/settle.ts";
import type { JobEnding } from "../../../../../coordinator/store/jobs/job-store.ts";
import { openSqliteStore, type SqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { ServiceError } from "../../../../../shared/errors.ts";
import { IllegalTransitionError } from "../../../../../shared/job-state.ts";
import {
  balanceOf,
  grant,
  ISLAND_ID,
  MADE_AT_MS,
  makeAccount,
  makeEnding,
  makeJob,
  temporaryFolder,
} from "../../contract/store-builders.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

const folder = temporaryFolder();
let store: SqliteStore;
beforeAll(async () => {
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock: new ManualClock() });
});
afterAll(async () => {
  await store.close();
  folder[Symbol.dispose]();
});

const ENDINGS = ["complete", "fail", "cancel", "expire"] as const;
const step = fc.oneof(
  fc.record({ kind: fc.constant("grant" as const), micro: fc.integer({ min: 1, max: 2_000 }) }),
  fc.record({ kind: fc.constant("submit" as const), priceMicro: fc.integer({ min: 0, max: 1_500 }) }),
  fc.record({
    kind: fc.constant("move" as const),
    event: fc.constantFrom("assign" as const, "start" as const, "lose" as const),
    job: fc.nat(4),
    attempt: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({
    kind: fc.constant("end" as const),
    event: fc.constantFrom(...ENDINGS),
    job: fc.nat(4),
    attempt: fc.integer({ min: 0, max: 3 }),
    deliveredTokens: fc.nat(12),
  }),
);

it("ledger stays balanced in concurrent operations, without negative balances or double charges", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), fc.nat(2_000), async (steps, grantMicro) => {
      const clientId = await makeAccount(store, { grantMicro });
      const ownerId = await makeAccount(store, { grantMicro: 0 });
      const jobs = Array.from({ length: 5 }, () => makeJob(clientId));
      let submitted = 0;
      let granted = grantMicro;
      const ended = new Map<string, number>();
      const run = async (act: (typeof steps)[number]): Promise<void> => {
        const job = jobs["job" in act ? act.job : submitted % 5] as (typeof jobs)[number];
        switch (act.kind) {
          case "grant":
            await grant(store, clientId, act.micro);
            granted += act.micro;
            return;
          case "submit":
            if (submitted === 5) return;
            const { priceMicro } = act;
            jobs[submitted] = { ...job, priceMicro, postings: holdPostings(clientId, [priceMicro]) };
            await store.jobs.submit(jobs[submitted++] as typeof job);
            return;
          case "move":
            await store.jobs.move({ ...act, jobId: job.id, islandId: ISLAND_ID, atMs: MADE_AT_MS });
            return;
          case "end":
            await end(act, job);
            return;
          default:
            throw new Error(String(act satisfies never));
        }
      };
      const end = async (
        { event, attempt, deliveredTokens }: { event: JobEnding["event"]; attempt: number; deliveredTokens: number },
        job: (typeof jobs)[number],
      ): Promise<void> => {
        const { id, accountId, priceMicro } = job;
        const { chargeMicro, postings } = settle({
          event,
          accountId,
          priceMicro,
          hasOutput: deliveredTokens > 0,
          isFaultOfIsland: false,
          deliveredTokens,
          readTokens: 0,
          rates: { prompt: 0, completion: 300_001_000_000 },
          networkFee: 0.1,
          ownerAccountId: ownerId,
        });
        await store.jobs.end(makeEnding(job, { event, attempt, chargeMicro, postings }));
        expect(ended.has(id)).toBe(false);
        ended.set(id, chargeMicro);
      };
      // All operations run in one tick, so that they share transactions.
      for (const outcome of await Promise.allSettled(steps.map(run))) {
        if (outcome.status === "fulfilled") continue;
        const reason: unknown = outcome.reason;
        if (!(reason instanceof ServiceError || reason instanceof IllegalTransitionError)) throw reason;
      }
      const { entries: _, ...report } = await store.ledger.verify();
      expect(report).toEqual({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
      const [clientMicro = -1, ownerMicro = -1] = [await balanceOf(store, clientId), await balanceOf(store, ownerId)];
      expect(Math.min(clientMicro, ownerMicro)).toBeGreaterThanOrEqual(0);
      const unfinished = (await store.jobs.unfinished()).filter(({ accountId }) => accountId === clientId);
      const held = unfinished.reduce((sum, { priceMicro }) => sum + priceMicro, 0);
      const charged = [...ended.values()].reduce((sum, micro) => sum + micro, 0);
      expect(clientMicro).toBe(granted - held - charged);
    }),
    { numRuns: 100 },
  );
});
