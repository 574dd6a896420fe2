import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileURLToPath } from "node:url";
import { openCatalog, type CatalogSync } from "../../../../coordinator/catalog/catalog-sync.ts";
import { newId } from "../../../../shared/ids.ts";
import type { PostgresStore } from "../../../../coordinator/store/postgres/postgres-store.ts";
import { testEnv } from "../../../support/test-env.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";
import { ONNX_FILE } from "../../catalog/cargo-builders.ts";
import { eventually } from "../../http/api.ts";
import { NO_EVIDENCE } from "../../../../coordinator/credits/standing.ts";
import { endHeld } from "../contract/audit-store.cases.ts";
import { makeWebhook } from "../contract/batch-store.cases.ts";
import { MADE_AT_MS, makeAccount, makeEnding, makeJob, runJob } from "../contract/store-builders.ts";

const LEASE_MS = 60_000;
const directory = fileURLToPath(new URL("../../../../catalog", import.meta.url));
const HOUR_MS = 3_600_000;
const SELF = { address: "http://127.0.0.1:1", version: "1" };
await withDatabase(describeSharedWork);

function describeSharedWork(database: PostgresDatabase): void {
  let one: PostgresStore;
  let two: PostgresStore;
  let three: PostgresStore;
  beforeEach(async () => {
    await database.empty();
    const open = (id: string) => database.store(new ManualClock(), id);
    [one, two, three] = [open("c1"), open("c2"), open("c3")];
    for (const store of [one, two, three]) await store.cluster.renew(SELF, LEASE_MS);
  });
  afterEach(async () => void (await Promise.all([one, two, three].map((store) => store.close()))));

  describe("several coordinators on one PostgreSQL", () => {
    it("deliver the webhooks of jobs whose end they stored, and adopt each webhook of a dead coordinator once", async () => {
      const accountId = await makeAccount(one, { grantMicro: 100_000_000 });
      const ended = async (store: PostgresStore): Promise<string> => {
        const job = makeJob(accountId, { webhook: makeWebhook() });
        await runJob(store, job);
        await store.jobs.end(makeEnding(job));
        return job.webhook?.id ?? "";
      };
      const ids = [await ended(one), await ended(one), await ended(one)];
      const other = await ended(two);
      // Webhooks due at the same time come in any order.
      const pending = async (store: PostgresStore) => (await store.webhooks.pending()).map(({ id }) => id).toSorted();
      expect([await pending(one), await pending(two)]).toEqual([ids.toSorted(), [other]]);
      expect([await two.webhooks.adopt(), await two.webhooks.toDeliver(ids[0] ?? "")]).toMatchObject([
        [{ id: other }],
        undefined,
      ]);
      await one.cluster.renew(SELF, -1);
      expect(await two.webhooks.adopt()).toMatchObject([{ id: other }]);
      await two.cluster.reap();
      const adopted = (await Promise.all([two.webhooks.adopt(), three.webhooks.adopt()])).flat();
      expect(adopted.map(({ id }) => id).toSorted()).toEqual([...ids, other].toSorted());
      // The store returns them again, because the first reply may have been lost.
      const again = (await Promise.all([two.webhooks.adopt(), three.webhooks.adopt()])).flat();
      expect(again.map(({ id }) => id).toSorted()).toEqual([...ids, other].toSorted());
      // The old sender sends and records nothing.
      expect([await pending(one), await one.webhooks.toDeliver(ids[0] ?? "")]).toEqual([[], undefined]);
      await one.webhooks.record(ids[0] ?? "", { atMs: 1, status: 200, error: null }, { state: "delivered" });
      expect(await three.webhooks.get(ids[0] ?? "")).toMatchObject({ state: "pending", attempts: [] });
    });

    it("make the audits of jobs whose end they stored, and adopt each audit of a dead coordinator once", async () => {
      const [clientId, ownerId] = [await makeAccount(one, { grantMicro: 100_000_000 }), await makeAccount(one)];
      const end = (store: PostgresStore): Promise<string> => endHeld(store, clientId, ownerId, "due");
      const ids = [await end(one), await end(one), await end(one)];
      const other = await end(two);
      const dueAt = async (store: PostgresStore) => (await store.audits.due()).map(({ jobId }) => jobId);
      expect([await dueAt(one), await dueAt(two), await dueAt(three)]).toEqual([ids, [other], []]);
      const judge = (store: PostgresStore, jobId: string) =>
        store.audits.record(jobId, "consistent", [], NO_EVIDENCE, "", MADE_AT_MS);
      expect(await judge(two, ids[0] ?? "")).toBeUndefined();
      await one.cluster.renew(SELF, -1);
      await two.cluster.reap();
      await Promise.all([two.audits.adopt(), three.audits.adopt()]);
      expect([...(await dueAt(two)), ...(await dueAt(three))].toSorted()).toEqual([...ids, other].toSorted());
      // The old coordinator makes no audit, and no two coordinators store a verdict on the same job.
      expect(await dueAt(one)).toEqual([]);
      const verdicts = await Promise.all(ids.flatMap((id) => [one, two, three].map((store) => judge(store, id))));
      expect(new Set(verdicts.map((standing) => standing?.streak))).toEqual(new Set([1, 2, 3, undefined]));
      expect(verdicts.filter((standing) => standing !== undefined)).toHaveLength(ids.length);
    });

    it("move each held earning once, whichever of them finds it", async () => {
      const [clientId, ownerId] = [await makeAccount(one, { grantMicro: 100_000_000 }), await makeAccount(one)];
      const stores = [one, two, three];
      const ids: string[] = [];
      for (let count = 0; count < 12; count += 1) {
        ids.push(await endHeld(stores[count % 3] ?? one, clientId, ownerId, count < 9 ? "none" : "due"));
      }
      const evidence = { suspicion: 12, support: 0 };
      const lies = stores.map((store, index) =>
        store.audits.record(ids[9 + index] ?? "", "inconsistent", [], evidence, "a lie", MADE_AT_MS),
      );
      const settled = [...stores, ...stores].map((store) => store.audits.settleHeld(0, MADE_AT_MS));
      await Promise.all([...lies, ...settled]);
      await one.audits.settleHeld(0, MADE_AT_MS);
      const { lines } = await one.ledger.list(clientId, { limit: 100, offset: 0 });
      const refunded = lines.filter(({ kind }) => kind === "refund").map(({ jobId }) => jobId ?? "");
      expect(refunded.toSorted()).toEqual(ids.toSorted());
      expect(await one.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [] });
    });

    it("follow the answers of their own questions, and adopt each answer of a dead coordinator once", async () => {
      const accountId = await makeAccount(one, { grantMicro: 100_000_000 });
      const ask = async (store: PostgresStore): Promise<string> => {
        const [id, answerId] = [newId("conv", MADE_AT_MS), newId("msg", MADE_AT_MS)];
        const made = { title: null, slug: "tiny-chat", systemPrompt: null, metadata: {} };
        await store.conversations.create({ id, accountId, ...made, createdAtMs: 1, updatedAtMs: 1 });
        const ids = { conversationId: id, userMessageId: newId("msg", MADE_AT_MS), answerId, afterMessageId: null };
        await store.jobs.submit({
          ...makeJob(accountId),
          answer: { kind: "new", question: { ...ids, content: "Hi" } },
        });
        return answerId;
      };
      const answers = [await ask(one), await ask(one)];
      const other = await ask(two);
      const followed = async (store: PostgresStore) =>
        (await store.conversations.unfinishedAnswers()).map(({ answerId }) => answerId).toSorted();
      expect([await followed(one), await followed(two), await followed(three)]).toEqual([
        answers.toSorted(),
        [other],
        [],
      ]);
      await one.cluster.leave();
      const [byTwo, byThree] = await Promise.all([followed(two), followed(three)]);
      expect([...byTwo, ...byThree].toSorted()).toEqual([...answers, other].toSorted());
      expect([await followed(two), await followed(three)]).toEqual([byTwo, byThree]);
    });

    it("together sweep once an hour, by the clock of the database", async () => {
      const takers = () => Promise.all([one, two, three].map((store) => store.content.takeSweep(HOUR_MS)));
      expect((await takers()).filter(Boolean)).toHaveLength(1);
      expect(await takers()).toEqual([false, false, false]);
      await database.server.query("UPDATE turns SET taken_at_ms = taken_at_ms - 3500000", "test");
      expect((await takers()).filter(Boolean)).toHaveLength(1);
    });

    it("see a Cargo that another one added within a second, with the same number", async () => {
      const clock = new ManualClock();
      // Two coordinators that start concurrently on an empty database agree on the numbers.
      const syncs = await Promise.all(
        [one, two].map(({ catalog }) => openCatalog(testEnv({ catalogDirectory: directory }, { clock }), catalog)),
      );
      const [here, there] = syncs as [CatalogSync, CatalogSync];
      const numbers = (sync: CatalogSync) => sync.catalog.list().map(({ slug, workloadId }) => [slug, workloadId]);
      expect(numbers(there)).toEqual(numbers(here));
      there.watch(() => undefined);
      await one.catalog.importCargo({ slug: "some-onnx", file: ONNX_FILE, atMs: 1 });
      expect(there.catalog.find("some-onnx")).toBeUndefined();
      clock.advance(1_000);
      await eventually(() => there.catalog.find("some-onnx") !== undefined);
      await here.refresh();
      expect(numbers(there)).toEqual(numbers(here));
      await Promise.all(syncs.map((sync) => sync.close()));
    });

    it("together remove expired rows once an hour", async () => {
      const accountId = await makeAccount(one);
      const session = { accountId, createdAtMs: 1, expiresAtMs: 2 };
      const left = async () =>
        Number((await database.server.query("SELECT count(*) FROM sessions", "test")).rows[0]?.count);
      await one.accounts.createSession({ tokenHash: "first", ...session }, 10);
      await two.prune();
      expect(await left()).toBe(0);
      await one.accounts.createSession({ tokenHash: "second", ...session }, 10);
      await three.prune();
      expect(await left()).toBe(1);
    });
  });
}
