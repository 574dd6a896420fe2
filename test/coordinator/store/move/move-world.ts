import { makeFileBatch } from "../contract/file-batch-store.cases.ts";
import { newId } from "../../../../shared/ids.ts";
import { LargeJson } from "../../../../coordinator/store/jobs/large-json.ts";
import { NO_COUNTS } from "../../../../coordinator/store/ledger/host-metrics.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { makeBatch, makeWebhook } from "../contract/batch-store.cases.ts";
import {
  endUncharged,
  grant,
  ISLAND_ID,
  MADE_AT_MS,
  makeAccount,
  makeEnding,
  makeJob,
  runJob,
} from "../contract/store-builders.ts";

/**
 * Contains characters that PostgreSQL's text does not support, and characters of two UTF-16 units where large values
 * are split.
 */
const TEXT = 'NUL \u0000, "quotes" and \\ and \u{1F3DD}';
const LARGE = `"${"\u{1F3DD}\n\u0000".repeat(40_000)}`;
const LATER_MS = MADE_AT_MS + 10_000;
const HARDWARE = {
  platform: "linux",
  arch: "x64",
  osName: null,
  cpuModel: TEXT,
  logicalCores: 8,
  physicalCores: null,
  ramBytes: 16 * 2 ** 30,
  gpus: [],
  diskFreeBytes: null,
  diskBudgetBytes: 10 * 2 ** 30,
} as const;

/** Ids of the data of {@link fillStore}. */
export interface Filled {
  readonly accountIds: readonly string[];
  readonly jobIds: readonly string[];
  readonly batchId: string;
  readonly conversationId: string;
  readonly webhookIds: readonly string[];
}

/** Writes rows to every table, including all values that the two databases store differently. */
export async function fillStore(store: Store): Promise<Filled> {
  const [ann, bob] = [await makeAccount(store, { grantMicro: 900_000_000 }), await makeAccount(store)];
  // Adds more than 256 entries to the ledger.
  await Promise.all(Array.from({ length: 150 }, (_, count) => grant(store, bob, 1_000 + count)));
  await fillAccounts(store, ann);
  await fillCatalog(store, ann);
  const file = { purpose: "user_data", filename: "\u{1F3DD}.txt", sizeBytes: 3, sha256: "ab", blob: "ab-1" } as const;
  const fileTimes = { createdAtMs: MADE_AT_MS, expiresAtMs: null };
  await store.files.add({ id: "file_1", accountId: ann, ...file, ...fileTimes }, { maxBytes: 3, maxFiles: 1 });
  await store.files.hold(ann, [{ jobId: "job_1", fileId: "file_1" }], MADE_AT_MS);
  await store.fileBatches.add(makeFileBatch(ann), 1);
  const jobs = await fillJobs(store, ann);
  const gone = makeJob(bob);
  await runJob(store, gone);
  await store.jobs.end(makeEnding(gone, { output: "gone", earning: { accountId: ann, micro: 900_000 } }));
  await store.content.remove([gone.id], { parts: ["input", "output"], withMessages: false, atMs: LATER_MS });
  await store.content.begin({ kind: "conversation", id: "conv_gone" }, LATER_MS);
  await fillAudits(store, ann, bob);
  return { ...jobs, accountIds: [ann, bob], jobIds: [...jobs.jobIds, gone.id] };
}

async function fillAudits(store: Store, ownerAccountId: string, clientAccountId: string): Promise<void> {
  const job = makeJob(clientAccountId);
  const { id, slug, priceMicro: chargedMicro } = job;
  const earnedMicro = chargedMicro - 100_000;
  const earning = { accountId: ownerAccountId, micro: earnedMicro, isHeld: true };
  const audit = {
    ownerAccountId,
    slug,
    clientAccountId,
    chargedMicro,
    earnedMicro,
    earning: "held",
    verdict: "due",
    mayAudit: false,
  } as const;
  await runJob(store, job);
  await store.jobs.end(makeEnding(job, { earning, audit }));
  const reading = { jobId: "job_read", ownerAccountId: "user_reader", verdict: "unclear", surprise: 0.5 } as const;
  await store.audits.record(id, "unclear", [reading], { suspicion: 1, support: 2 }, "", LATER_MS);
}

async function fillAccounts(
  { accounts, audit, hostMetrics, islands, operators }: Store,
  accountId: string,
): Promise<void> {
  const times = { createdAtMs: MADE_AT_MS, expiresAtMs: MADE_AT_MS + 10 ** 12 };
  const key = {
    id: "key_1",
    accountId,
    name: TEXT,
    prefix: "ak_1",
    scopes: ["jobs"] as never,
    secretHash: "key-hash",
    ...times,
  };
  await accounts.createKey(key, { maxKeys: 50, revokedAfterMs: 0 });
  await accounts.touchKey("key_1", LATER_MS);
  const keyLimits = { expiresAtMs: times.expiresAtMs, cargos: ["hash"], monthlyMicro: 5_000_000 };
  await accounts.changeKey(accountId, "key_1", keyLimits, MADE_AT_MS);
  await accounts.createSession({ tokenHash: "session-hash", accountId, ...times }, 10);
  await accounts.touchSession("session-hash", LATER_MS);
  const change = { accountId, tokenHash: "change-hash", email: "Next@a.example", expiresAtMs: times.expiresAtMs };
  await accounts.createEmailChange(change);
  const tokenCap = { maxTokens: 1, revokedAfterMs: 0 };
  await accounts.createIslandToken({ id: "itk_1", accountId, name: TEXT, tokenHash: "token-hash", ...times }, tokenCap);
  await accounts.touchIslandToken("itk_1", LATER_MS);
  const code = { codeHash: "code-hash", accountId, name: TEXT, expiresAtMs: times.expiresAtMs };
  await accounts.createPairingCode(code, { nowMs: 0, maxCodes: 1 });
  await accounts.createReset({
    tokenHash: "reset-hash",
    accountId,
    expiresAtMs: times.expiresAtMs,
    nowMs: 0,
    maxResets: 3,
  });
  await accounts.createSignUp({
    tokenHash: "up-hash",
    email: "New@a.example",
    expiresAtMs: times.expiresAtMs,
    nowMs: 0,
    keptIfAfterMs: 0,
  });
  await accounts.setLimits(accountId, { concurrentJobs: 7, share: 3 });
  const runtimes = [{ type: "llmcpp", version: "3.22.1" }] as never;
  const seen = { hostId: ISLAND_ID, accountId, agentVersion: TEXT, lastSeenAtMs: MADE_AT_MS };
  await islands.save({ ...seen, hostName: TEXT, hardware: HARDWARE as never, runtimes }, MADE_AT_MS);
  await islands.rename(accountId, ISLAND_ID, TEXT);
  await operators.grant({ accountId, micro: -1, note: TEXT, atMs: LATER_MS, repeat: null });
  await operators.setRole(accountId, "operator");
  await operators.suspendIsland(ISLAND_ID, { reason: TEXT, atMs: LATER_MS });
  const announcement = { id: "ann_1", level: "warning", text: TEXT, createdAtMs: MADE_AT_MS, untilMs: null } as const;
  await operators.announce(announcement, { nowMs: 0, maxAnnouncements: 1 });
  const target = { targetKind: "island", targetId: ISLAND_ID } as const;
  const actor = { via: "command", actor: "root", origin: "host" } as const;
  await audit.append({
    ...actor,
    ...target,
    atMs: LATER_MS,
    action: "island.suspend",
    before: null,
    after: { because: TEXT },
  });
  const day = { accountId, hostId: ISLAND_ID, day: 20_000 };
  await hostMetrics.addCounts([{ ...day, ...NO_COUNTS, onlineMs: 5, completed: 4, retried: 3, tokens: 2 }]);
}

async function fillCatalog({ catalog }: Store, ownerId: string): Promise<void> {
  await catalog.numberCargos(["tiny-chat", "hash"], MADE_AT_MS);
  await catalog.create({ slug: "mine", ownerId, file: { name: TEXT }, isEnabled: true, atMs: MADE_AT_MS });
  await catalog.approve(
    { slug: "mine", file: { name: TEXT, pinned: true }, revision: "abc", by: "root", atMs: LATER_MS },
    1,
  );
  await catalog.importCargo({ slug: "ours", file: { name: "Ours" }, atMs: MADE_AT_MS });
  await catalog.create({ slug: "old", ownerId, file: {}, isEnabled: true, atMs: MADE_AT_MS });
  await catalog.remove("old", ownerId, LATER_MS);
  await catalog.setDisabled("hash", true, LATER_MS);
  await catalog.setPrice("tiny-chat", 5, LATER_MS);
}

async function fillJobs(store: Store, accountId: string): Promise<Omit<Filled, "accountIds">> {
  const { jobs, conversations, batches, webhooks } = store;
  const token = (content: string, count = 1) => ({ type: "token", content, count }) as const;
  const image = { type: "image", data: LARGE, format: "png" } as const;
  const webhook = makeWebhook();
  const ended = makeJob(accountId, { input: { prompt: TEXT }, webhook, idempotency: { key: "k", bodyHash: "b" } });
  await runJob(store, ended);
  await jobs.appendFeed({
    jobId: ended.id,
    attempt: 1,
    seq: 1,
    items: [token("NUL \u0000"), token("\u{1F3DD}", 2), image],
  });
  await jobs.end(makeEnding(ended));
  await webhooks.record(
    webhook.id,
    { atMs: LATER_MS, status: 500, error: null },
    { state: "pending", dueAtMs: LATER_MS },
  );
  const large = makeJob(accountId, { webhook: makeWebhook() });
  await runJob(store, large);
  await jobs.end(makeEnding(large, { output: { text: LARGE } }));
  const failed = makeJob(accountId);
  await runJob(store, failed);
  await endUncharged(store, failed.id, {
    event: "fail",
    error: { code: "internal", message: TEXT, retryable: false } as never,
  });
  const running = makeJob(accountId, { isClientBound: true });
  await runJob(store, running);
  await jobs.appendFeed({ jobId: running.id, attempt: 1, seq: 1, items: [token(TEXT), image, token("\uD800")] });
  const waiting = makeJob(accountId);
  await jobs.submit(waiting);
  const batch = makeBatch(accountId, 3, { webhook: makeWebhook(), idempotency: { key: "kb", bodyHash: "b" } });
  await batches.submit(batch);
  await endUncharged(store, batch.jobs[0]?.id ?? "", { event: "cancel", attempt: 0 });
  const conversationId = newId("conv", MADE_AT_MS);
  const made = { title: TEXT, slug: "tiny-chat", systemPrompt: TEXT, metadata: { a: TEXT } };
  await conversations.create({
    id: conversationId,
    accountId,
    ...made,
    createdAtMs: MADE_AT_MS,
    updatedAtMs: MADE_AT_MS,
  });
  const answering = makeJob(accountId);
  const ids = { userMessageId: newId("msg", MADE_AT_MS), answerId: newId("msg", MADE_AT_MS) };
  const question = { conversationId, content: TEXT, afterMessageId: null, ...ids };
  await jobs.submit({ ...answering, answer: { kind: "new", question } });
  const jobIds = [ended, large, failed, running, waiting, answering, ...batch.jobs].map(({ id }) => id);
  return {
    jobIds,
    batchId: batch.id,
    conversationId,
    webhookIds: [webhook.id, large.webhook?.id ?? "", batch.webhook?.id ?? ""],
  };
}

/** Returns the results of all reads of a store for the data of {@link fillStore}. */
export async function pictureOf(store: Store, filled: Filled): Promise<unknown> {
  const { accounts, islands, catalog, jobs, batches, conversations, webhooks, content, ledger } = store;
  const page = { limit: 100, offset: 0 };
  const [ann = "", bob = ""] = filled.accountIds;
  return readLarge({
    accounts: [await accounts.get(ann), await accounts.get(bob)],
    passwordHash: await accounts.passwordHash(ann),
    limits: await accounts.limits(ann),
    keys: await accounts.listKeys(ann),
    key: await accounts.findKey("key-hash"),
    session: await accounts.findSession("session-hash", LATER_MS),
    tokens: await accounts.listIslandTokens(ann),
    reset: await accounts.findReset("reset-hash", LATER_MS),
    signUp: await accounts.findSignUp("up-hash", LATER_MS),
    revision: await accounts.credentialsRevision(),
    island: await islands.get(ISLAND_ID),
    known: [await store.operators.account(ann), await store.operators.island(ISLAND_ID)],
    announcements: await store.operators.announcements(0),
    audit: await store.audit.list({}, page),
    owners: await store.audits.ofOwner(ann),
    catalog: await catalog.snapshot(),
    numbers: [...(await catalog.numberCargos([], LATER_MS))],
    jobs: await Promise.all(filled.jobIds.map((id) => jobs.get(id))),
    feeds: await Promise.all(filled.jobIds.map((id) => jobs.feed(id))),
    list: await jobs.list(ann, page, {}),
    repeat: await jobs.findRepeat({ accountId: ann, createdAtMs: LATER_MS, idempotency: { key: "k", bodyHash: "b" } }),
    repeatedBatch: await batches.findRepeat({
      accountId: ann,
      createdAtMs: LATER_MS,
      idempotency: { key: "kb", bodyHash: "b" },
    }),
    batch: await batches.get(filled.batchId),
    unfinishedBatches: await batches.unfinished(),
    conversation: await conversations.get(filled.conversationId),
    messages: await conversations.messages(filled.conversationId, { ...page, order: "asc" }),
    webhooks: await Promise.all(filled.webhookIds.map((id) => webhooks.get(id))),
    removals: await content.inFlight(),
    ledgers: [await ledger.list(ann, page), await ledger.list(bob, page)],
    verified: await ledger.verify(),
  });
}

async function readLarge(value: unknown): Promise<unknown> {
  if (value instanceof LargeJson) return { large: await value.value() };
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return Promise.all(value.map(readLarge));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(async ([name, field]) => [name, await readLarge(field)] as const);
  return Object.fromEntries(await Promise.all(fields));
}
