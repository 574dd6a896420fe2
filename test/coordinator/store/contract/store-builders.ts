import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../../../shared/ids.ts";
import { grantPostings, holdPostings, type Posting } from "../../../../coordinator/credits/postings.ts";
import { settlePostings } from "../../../../coordinator/credits/settle.ts";
import type { JobEnding, NewJob } from "../../../../coordinator/store/jobs/job-store.ts";
import type { Store } from "../../../../coordinator/store/store.ts";

/** Declares a case. `store` is the store that is open for the case. */
export type Check = (title: string, body: (store: Store) => Promise<void>) => void;

/** Creation time of everything that these builders create. */
export const MADE_AT_MS = 1_767_225_600_000;

/** Creates an account in `store`, with 10 credits by default. */
export async function makeAccount(
  store: Store,
  { email, grantMicro = 10_000_000 }: { email?: string; grantMicro?: number } = {},
): Promise<string> {
  const id = newId("user", MADE_AT_MS);
  await store.accounts.create({
    id,
    email: email ?? `${id}@example.com`,
    passwordHash: "hash",
    postings: firstGrant(id, grantMicro),
    createdAtMs: MADE_AT_MS,
  });
  return id;
}

/** First grant of a new account. Empty if it is 0. */
export function firstGrant(accountId: string, micro: number): readonly Posting[] {
  return micro === 0 ? [] : grantPostings(accountId, micro);
}

export async function grant(store: Store, accountId: string, micro: number): Promise<void> {
  await store.ledger.post(grantPostings(accountId, micro), MADE_AT_MS);
}

/** Returns a job of 1 credit. */
export function makeJob(accountId: string, override: Partial<NewJob> = {}): NewJob {
  const { priceMicro = 1_000_000, input = { prompt: "Say: atoll" } } = override;
  return {
    id: newId("job", MADE_AT_MS),
    accountId,
    slug: "tiny-chat",
    workloadId: 1,
    input,
    inputJson: JSON.stringify(input),
    priority: 50,
    jobClass: "batch",
    share: null,
    priceMicro,
    rates: null,
    terms: null,
    postings: holdPostings(accountId, [priceMicro]),
    createdAtMs: MADE_AT_MS,
    waitDeadlineMs: MADE_AT_MS + 3_600_000,
    isClientBound: false,
    ignoredParameters: null,
    idempotency: null,
    webhook: null,
    ...override,
  };
}

/** Creates an API key without limits. Resolves with its number. */
export function makeKey(store: Store, accountId: string, id: string): Promise<number> {
  const key = { id, accountId, name: "ci", prefix: "ak_1", scopes: ["read"] as const, secretHash: `hash of ${id}` };
  return store.accounts.createKey({ ...key, createdAtMs: MADE_AT_MS }, { maxKeys: 9, revokedAfterMs: 0 });
}

type EndingOverride = Partial<JobEnding> & Partial<Pick<Parameters<typeof settlePostings>[0], "earning">>;
type PricedJob = Pick<NewJob, "id" | "accountId" | "priceMicro">;

/** Returns the completion of a first attempt, charged in full, without an earning. */
export function makeEnding(
  { id, accountId, priceMicro }: PricedJob,
  { earning = null, ...override }: EndingOverride = {},
): JobEnding {
  const { chargeMicro = priceMicro } = override;
  return {
    jobId: id,
    event: "complete",
    attempt: 1,
    atMs: MADE_AT_MS + 5_000,
    usage: { promptTokens: 3, completionTokens: 2 },
    finishReason: "stop",
    timings: { loadMs: 0, firstOutputMs: 1.5, runMs: 20 },
    error: null,
    chargeMicro,
    postings: settlePostings({ accountId, priceMicro, chargeMicro, earning }),
    ...override,
  };
}

/** Ends a stored job without a charge. `jobId` may be unknown. */
export async function endUncharged(
  store: Store,
  jobId: string,
  override: EndingOverride = {},
): ReturnType<Store["jobs"]["end"]> {
  const job = (await store.jobs.get(jobId)) ?? { id: jobId, accountId: "user_none", priceMicro: 0 };
  return store.jobs.end(makeEnding(job, { chargeMicro: 0, ...override }));
}

export const ISLAND_ID = "7e2f1a50-0000-4000-8000-000000000001";

/** Submits a job and moves it to `running`, as the given attempt. */
export async function runJob(store: Store, job: NewJob, attempt = 1): Promise<void> {
  await store.jobs.submit(job);
  await store.jobs.move({ jobId: job.id, event: "assign", attempt, islandId: ISLAND_ID, atMs: MADE_AT_MS + 1_000 });
  await store.jobs.move({ jobId: job.id, event: "start", attempt, islandId: null, atMs: MADE_AT_MS + 2_000 });
}

/** Runs a job of the account to its end, with the output "a". Returns its id. */
export async function completeJob(store: Store, accountId: string): Promise<string> {
  const job = makeJob(accountId);
  await runJob(store, job);
  const items = [{ type: "token", content: "a", count: 1 }] as const;
  await store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: 1, items });
  await store.jobs.end(makeEnding(job, { output: "a" }));
  return job.id;
}

/** Returns the spendable balance of an account. */
export async function balanceOf(store: Store, accountId: string): Promise<number | undefined> {
  return (await store.accounts.get(accountId))?.balanceMicro;
}

/** Creates a folder, removed at the end of the `using` block or by a test's afterEach. */
export function temporaryFolder(): Disposable & { readonly path: string; file(name: string): string } {
  const path = mkdtempSync(join(tmpdir(), "atoll-store-"));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
