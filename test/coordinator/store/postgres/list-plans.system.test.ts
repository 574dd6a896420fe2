import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { JobFilter } from "../../../../coordinator/store/jobs/job-store.ts";
import { NO_COUNTS } from "../../../../coordinator/store/ledger/host-metrics.ts";
import type { PostgresStore } from "../../../../coordinator/store/postgres/postgres-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";
import { ISLAND_ID, MADE_AT_MS, makeEnding, makeJob } from "../contract/store-builders.ts";
import { REALISTIC_ROWS } from "./realistic-rows.ts";

const ACCOUNT = "user_000007";
const [BATCH, CONVERSATION] = ["batch_00000007", "conv_00000007"];
/** Values that differ between rounds of calls. */
const ROUNDS = {
  force_custom_plan: { other: "user_000013", job: "job_00000307", webhook: "msg_00000007", key: "k1" },
  force_generic_plan: { other: "user_000014", job: "job_00000407", webhook: "msg_00000107", key: "k2" },
} as const;
type Round = (typeof ROUNDS)[keyof typeof ROUNDS];
const PAGE = { limit: 20, offset: 40 };
/** Short tables, of which every row is needed or whose scan costs nothing. */
const SMALL = new Set([
  "entries_id_seq",
  "cargos",
  "cargo_approvals",
  "cargo_numbers",
  "catalog_revision",
  "checks",
  "coordinators",
  "credential_ends",
  "credentials_revision",
  "disabled_cargos",
  "earnings_cursor",
  "usage_cursor",
  "network_moves",
  "password_resets",
  "removals",
  "secrets",
  "turns",
]);
const FILTERS: JobFilter[] = [
  {},
  { states: ["failed"] },
  { states: ["pending", "running", "completed"] },
  { slug: "tiny-chat" },
  { slug: "tiny-chat", states: ["completed"] },
  { batchId: BATCH },
  { batchId: BATCH, slug: "tiny-chat", states: ["failed"] },
];

/** Makes each table so small that a scan is the cheapest plan. */
const FEW_ROWS = REALISTIC_ROWS.replaceAll(
  /generate_series\([01], [^)]*\) n\b/g,
  "unnest(ARRAY[0, 7, 8, 13, 14, 50, 100, 107, 150, 307, 407, 5100]) n",
);

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly Plans?: readonly Plan[];
}
/** Plans of all statements that ran, including statements inside functions. */
const plans: { readonly "Query Text": string; readonly Plan: Plan }[] = [];

await withDatabase(describePlans);

function describePlans(database: PostgresDatabase): void {
  const { connect } = pg.Client.prototype as unknown as { connect: (this: pg.Client, ...args: unknown[]) => unknown };
  beforeAll(() => {
    vi.spyOn(pg.Client.prototype, "connect").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      this.on("notice", ({ message = "" }) => {
        const [, plan] = message.split("plan:\n");
        if (plan !== undefined) plans.push(JSON.parse(plan) as (typeof plans)[number]);
      });
      return connect.apply(this, args) as never;
    });
  });
  beforeEach(() => void (plans.length = 0));
  afterAll(() => void vi.restoreAllMocks());
  // After several uses, PostgreSQL switches a prepared statement to a generic plan if it estimates the same cost.
  const databases: [string, () => Promise<unknown>][] = [
    ["of thousands of jobs", () => database.server.query(REALISTIC_ROWS, "test")],
    // Prepared statements keep such plans until PostgreSQL first analyzes a table, which may have grown by then.
    ["that was analyzed with few rows in each table", () => database.server.query(FEW_ROWS, "test")],
  ];
  describe.each(databases)("no call of the store scans a whole table of a database %s", (_, fill) => {
    beforeAll(async () => {
      await database.empty();
      await fill();
    });
    it.each(Object.entries(ROUNDS))("with %s", async (mode, round) => {
      await explainAll(database, mode);
      const store = database.store(new ManualClock(), "c1");
      try {
        await callAll(store, round);
      } finally {
        await store.close();
      }
      expect(plans.length).toBeGreaterThan(100);
      expect([...new Set(plans.flatMap(wholeReads))]).toEqual([]);
    });
  });
}

/** Makes each new connection report the plan of each statement. */
async function explainAll({ server }: PostgresDatabase, mode: string): Promise<void> {
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    client_min_messages: "log",
    plan_cache_mode: mode,
  };
  for (const [name, value] of Object.entries(settings)) {
    await server.query(`ALTER DATABASE test SET ${name} = '${value}'`);
  }
}

/** Returns the tables that the statement scans completely. */
function wholeReads(explained: (typeof plans)[number]): string[] {
  const text = explained["Query Text"];
  // An existence check reads one row.
  if (text === "SELECT 1 FROM islands LIMIT 1") return [];
  const read = (node: Plan): string[] => {
    const table = node["Relation Name"] ?? "";
    const isWhole = node["Node Type"] === "Seq Scan" && !SMALL.has(table);
    return [...(isWhole ? [`${table}: ${text}`] : []), ...(node.Plans ?? []).flatMap(read)];
  };
  return read(explained.Plan);
}

/** Calls everything but `ledger.verify`, which must read the whole ledger. */
async function callAll(store: PostgresStore, round: Round): Promise<void> {
  await callJobs(store, round);
  await callAccounts(store, round);
  await callOthers(store, round);
  await callContent(store, round);
  await callHosts(store, round);
  await callSettings(store, round);
  await callCluster(store);
}

async function callJobs({ jobs, batches }: PostgresStore, { job: jobId, key }: Round): Promise<void> {
  for (const filter of FILTERS) await jobs.list(ACCOUNT, PAGE, filter);
  const request = { accountId: ACCOUNT, createdAtMs: MADE_AT_MS, idempotency: { key: "key7", bodyHash: "hash" } };
  await jobs.findRepeat(request);
  await jobs.get(jobId);
  await jobs.accountOf(jobId);
  await jobs.input(jobId);
  await jobs.feed(jobId);
  await jobs.feed("job_00000050");
  await jobs.feedProgress("job_00000050", 1);
  await jobs.unfinished({ after: { accountId: ACCOUNT, id: jobId }, limit: 100 });
  await jobs.completionsSince(MADE_AT_MS + 9_900_000);
  await batches.get(BATCH);
  await batches.unfinished();
  await batches.cancel(BATCH, MADE_AT_MS);
  const job = makeJob(ACCOUNT, { idempotency: { key, bodyHash: "b" }, priceMicro: 1_000 });
  await jobs.submit(job);
  await jobs.move({ jobId: job.id, event: "assign", attempt: 1, islandId: ISLAND_ID, atMs: MADE_AT_MS });
  await jobs.move({ jobId: job.id, event: "start", attempt: 1, islandId: null, atMs: MADE_AT_MS });
  const items = [{ type: "token", content: "x", count: 1 }] as const;
  await jobs.appendFeed({ jobId: job.id, attempt: 1, seq: 1, items });
  await jobs.end(makeEnding(job));
}

async function callAccounts({ accounts, ledger, islands }: PostgresStore, { other, key: id }: Round): Promise<void> {
  const nowMs = MADE_AT_MS;
  await accounts.get(ACCOUNT);
  await accounts.getByEmail("7@example.com");
  await accounts.passwordHash(ACCOUNT);
  await accounts.limits(ACCOUNT);
  await accounts.findReset("reset7", nowMs);
  await accounts.createReset({ tokenHash: id, accountId: ACCOUNT, expiresAtMs: nowMs, nowMs, maxResets: 3 });
  await accounts.createSignUp({ tokenHash: id, email: `${id}@c.example`, expiresAtMs: nowMs, nowMs, keptIfAfterMs: 0 });
  await accounts.findSignUp("signup7", nowMs);
  await accounts.findKey("secret7");
  await accounts.listKeys(ACCOUNT);
  await accounts.credentialsRevision();
  await accounts.touchKey("key_00000007", nowMs);
  await accounts.revokeKey(ACCOUNT, "key_00000007", nowMs);
  const key = { id, accountId: ACCOUNT, name: "n", prefix: "p", scopes: [], secretHash: id, createdAtMs: nowMs };
  await accounts.createKey(key, { maxKeys: 50, revokedAfterMs: nowMs });
  await accounts.findSession("session7", nowMs);
  await accounts.createSession({ tokenHash: id, accountId: ACCOUNT, createdAtMs: nowMs, expiresAtMs: nowMs }, 10);
  await accounts.deleteSession(id);
  await accounts.findIslandToken("token7");
  await accounts.touchIslandToken("itk_00000007", nowMs);
  await accounts.listIslandTokens(ACCOUNT);
  await accounts.revokeIslandToken(ACCOUNT, "itk_00000007", nowMs);
  await accounts.setPassword({ accountId: ACCOUNT, passwordHash: "h", keptTokenHash: "session7" });
  await accounts.delete(other, nowMs);
  await ledger.list(ACCOUNT, PAGE);
  await islands.get("host7");
  await islands.hasAny();
  await islands.touch(["host7", "host8"], nowMs + 9_000_000);
  await islands.forgetUnseen(nowMs + 1_000, 100);
}

async function callHosts({ accounts, hostMetrics, islands }: PostgresStore, { key: id }: Round): Promise<void> {
  const code = { codeHash: id, accountId: ACCOUNT, name: "n", expiresAtMs: MADE_AT_MS * 2 };
  await accounts.createPairingCode(code, { nowMs: MADE_AT_MS, maxCodes: 100 });
  const token = { id, tokenHash: id, createdAtMs: MADE_AT_MS, codeHash: id };
  await accounts.redeemPairingCode(token, { maxTokens: 100, revokedAfterMs: MADE_AT_MS });
  await islands.ofAccount(ACCOUNT);
  await islands.getAll(["host7", "host8"]);
  await islands.removedOf(["host7", "host8"]);
  await islands.rename(ACCOUNT, "host7", "n");
  await islands.remove(ACCOUNT, "host7", MADE_AT_MS);
  await hostMetrics.addCounts([{ accountId: ACCOUNT, hostId: "host7", day: 20_000, ...NO_COUNTS }]);
  await hostMetrics.counts(ACCOUNT, null, 20_000);
  await hostMetrics.earnings(ACCOUNT, null, 20_000);
  await hostMetrics.earnings(ACCOUNT, "host7", 20_000);
  await hostMetrics.recentEarnings(ACCOUNT, "host7", 10);
  await hostMetrics.sumUpEarnings(10);
  await hostMetrics.forgetDays(20_001, 10);
}

async function callSettings({ accounts, jobs, usage }: PostgresStore, { key: id }: Round): Promise<void> {
  const [fromDay, toDay] = [20_000, 20_030];
  await usage.read(ACCOUNT, { fromDay, toDay }, ["day", "cargo", "key"], PAGE);
  await usage.read(ACCOUNT, { fromDay, toDay, kind: "spent", slug: "tiny-chat", keyId: "key_00000107" }, [], PAGE);
  await usage.sumUp(10);
  await usage.forgetDays(20_001, 10);
  await accounts.createEmailChange({ accountId: ACCOUNT, tokenHash: id, email: "x@a.example", expiresAtMs: 1 });
  await accounts.findEmailChange(id, 0);
  await accounts.setEmail(ACCOUNT, `${id}@d.example`);
  await accounts.listSessions(ACCOUNT, 0);
  await accounts.touchSession("session7", MADE_AT_MS);
  await accounts.changeKey(ACCOUNT, "key_00000107", { monthlyMicro: 5 }, MADE_AT_MS);
  await accounts.changeKey(ACCOUNT, "key_00000107", { monthlyMicro: null }, MADE_AT_MS);
  await accounts.keySpending(ACCOUNT, 672);
  const monthly = { limitMicro: 5_000, month: 672, neededMicro: 1_000 };
  const job = makeJob(ACCOUNT, { apiKey: { number: 107, monthly }, priceMicro: 1_000, assignedTo: ISLAND_ID });
  await jobs.submit(job);
  await jobs.end(makeEnding(job, { startedAtMs: MADE_AT_MS, chargeMicro: 0 }));
}

async function callOthers({ catalog, conversations, webhooks }: PostgresStore, { webhook }: Round): Promise<void> {
  await catalog.find("cargo-7");
  await catalog.listOwned(ACCOUNT, PAGE);
  await conversations.get(CONVERSATION);
  await conversations.list(ACCOUNT, PAGE);
  await conversations.message("msg_00000007");
  await conversations.messages(CONVERSATION, { ...PAGE, order: "asc" });
  await conversations.messages(CONVERSATION, { ...PAGE, order: "desc" });
  await conversations.history(CONVERSATION, 100, 10_000);
  await conversations.unfinishedAnswers();
  const ending = { state: "completed", content: "x", finishReason: "stop", error: null, atMs: MADE_AT_MS } as const;
  await conversations.endAnswer({ answerId: "msg_00005100", jobId: "job_00005100", ...ending });
  await webhooks.get(webhook);
  await webhooks.toDeliver(webhook);
  await webhooks.pending();
  await webhooks.adopt();
  await webhooks.record(webhook, { atMs: 1, status: 200, error: null }, { state: "delivered" });
}

async function callContent({ content }: PostgresStore, { job, other }: Round): Promise<void> {
  const endedByMs = MADE_AT_MS + 100_000;
  await content.inFlight();
  for (const kind of ["job", "output", "conversation", "account"] as const) {
    await content.jobsOf({ kind, id: { job, output: job, conversation: CONVERSATION, account: other }[kind] }, "", 100);
  }
  await content.expired("input", { sinceMs: 0, endedByMs }, 100);
  await content.expired("output", { sinceMs: 0, endedByMs }, 100);
  await content.removeWebhooks(endedByMs, 100);
  await content.remove([job], { parts: ["input", "output"], withMessages: true, atMs: MADE_AT_MS });
  await content.removeOfAccount(other);
  await content.finish({ kind: "account", id: other }, MADE_AT_MS);
  await content.finish({ kind: "conversation", id: CONVERSATION }, MADE_AT_MS);
}

async function callCluster(store: PostgresStore): Promise<void> {
  const { cluster } = store;
  await store.check();
  await store.prune();
  await cluster.renew({ address: "a", version: "1" }, 60_000);
  await cluster.peers();
  await cluster.reap();
  await cluster.adopt(5);
  await cluster.owned(["job_00000050", "job_00000150"]);
  await cluster.ownedIds("", 100);
  await cluster.quotaSlots.take(ACCOUNT, ["job_00000150"], 10);
  await cluster.credentialChanges.since(0);
  await store.accounts.endedOf(["key_1", "unknown"]);
  await cluster.islandSessions.nextNumber();
  await cluster.transfer(["job_00000050"], "c2");
  await cluster.claim({ jobId: "job_00000100", attempt: 1, islandId: ISLAND_ID });
  await cluster.ownerOf("job_00000100");
  await cluster.leave();
}
