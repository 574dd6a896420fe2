import pg from "pg";
import { beforeEach, describe, expect, it } from "vitest";
import { jobFunctions } from "../../../../coordinator/store/postgres/operations/job-functions.ts";
import type { PostgresStore } from "../../../../coordinator/store/postgres/postgres-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";
import { ISLAND_ID, MADE_AT_MS, makeAccount, makeEnding, makeJob } from "../contract/store-builders.ts";

await withDatabase(describeRepeats);

function describeRepeats(database: PostgresDatabase): void {
  let store: PostgresStore;
  beforeEach(async () => {
    await database.empty();
    store = database.store(new ManualClock());
  });

  describe("writes sent again after their reply was lost", () => {
    it("succeed without a change and return the webhooks that they made due, but other writes are refused", async () => {
      const accountId = await makeAccount(store);
      const webhook = { id: "wh_1", url: "https://a.example/", secret: "whsec_x", isSecretGenerated: false };
      const job = makeJob(accountId, { webhook });
      await store.jobs.submit(job);
      const move = { jobId: job.id, attempt: 1, refusals: 0, islandId: ISLAND_ID, atMs: MADE_AT_MS };
      const chunk = { jobId: job.id, attempt: 1, seq: 1, items: '[["t",1]]', text: "a", pieces: [] };
      const none = { output: null, largeChars: null, timings: null, error: null, lastChunk: null, pieces: [] };
      const operations = [
        ["moveJob", { ...move, event: "assign" }],
        ["moveJob", { ...move, event: "start" }],
        ["appendFeed", chunk],
        ["endJob", { ...makeEnding(job), ...none }],
      ];
      const client = new pg.Client(database.address);
      await client.connect();
      await client.query(jobFunctions("c1"));
      const run = async (sent: readonly unknown[]): Promise<unknown> => {
        const parties = [`client:${accountId}`, `hold:${accountId}`];
        const { rows } = await client.query<{ results: unknown }>(
          "SELECT pg_temp.run($1::jsonb, $2::text[]) AS results",
          [JSON.stringify(sent), parties],
        );
        return rows[0]?.results;
      };
      // A server that was frozen runs the first statement late, after its repeat and later writes.
      const next = ["appendFeed", { ...chunk, seq: 2, text: "b" }];
      expect(await run([...operations.slice(0, 3), next])).toEqual([null, null, null, null]);
      const written = await store.jobs.feed(job.id);
      expect(await run([["appendFeed", chunk]])).toEqual([null]);
      expect(await store.jobs.feed(job.id)).toEqual(written);
      expect(await run([["endJob", operations[3]?.[1]]])).toEqual([["wh_1"]]);
      const [before, feed] = [await store.jobs.get(job.id), await store.jobs.feed(job.id)];
      expect(await run(operations.map((operation) => [...operation, true]))).toEqual([null, null, null, ["wh_1"]]);
      expect([await store.jobs.get(job.id), await store.jobs.feed(job.id)]).toEqual([before, feed]);
      expect(await run(operations)).toMatchObject(operations.map(() => ({ refused: "transition", from: "completed" })));
      const another = [["endJob", { ...makeEnding(job), ...none, atMs: MADE_AT_MS + 9_000 }, true]];
      expect(await run(another)).toMatchObject([{ refused: "transition" }]);
      expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongHolds: [], wrongBalances: [] });
      await client.end();
      await store.close();
    });
  });
}
