import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../../../shared/ids.ts";
import type { JobEnding, NewJob } from "../../../../coordinator/store/job-store.ts";
import type { Store } from "../../../../coordinator/store/store.ts";

/** When all that these builders make was made. */
export const MADE_AT_MS = 1_767_225_600_000;

/** An account in `store`, with 10 credits unless told. */
export async function makeAccount(
  store: Store,
  override: { email?: string; grantMicro?: number } = {},
): Promise<string> {
  const id = newId("user", MADE_AT_MS);
  await store.accounts.create({
    id,
    email: `${id}@example.com`,
    passwordHash: "hash",
    grantMicro: 10_000_000,
    createdAtMs: MADE_AT_MS,
    ...override,
  });
  return id;
}

/** A job of 1 credit. */
export function makeJob(accountId: string, override: Partial<NewJob> = {}): NewJob {
  return {
    id: newId("job", MADE_AT_MS),
    accountId,
    slug: "tiny-chat",
    workloadId: 1,
    input: { prompt: "Say: atoll" },
    priority: 50,
    priceMicro: 1_000_000,
    createdAtMs: MADE_AT_MS,
    waitDeadlineMs: MADE_AT_MS + 3_600_000,
    idempotency: null,
    webhook: null,
    ...override,
  };
}

/** The completion of a first attempt, charged in full, with nobody who earns. */
export function makeEnding(jobId: string, override: Partial<JobEnding> = {}): JobEnding {
  return {
    jobId,
    event: "complete",
    attempt: 1,
    atMs: MADE_AT_MS + 5_000,
    usage: { promptTokens: 3, completionTokens: 2 },
    finishReason: "stop",
    timings: { loadMs: 0, firstOutputMs: 1.5, runMs: 20 },
    error: null,
    chargeMicro: 1_000_000,
    earning: null,
    ...override,
  };
}

export const ISLAND_ID = "7e2f1a50-0000-4000-8000-000000000001";

/** Submits a job and moves it to `running`, as the given attempt. */
export async function runJob(store: Store, job: NewJob, attempt = 1): Promise<void> {
  await store.jobs.submit(job);
  await store.jobs.move({ jobId: job.id, event: "assign", attempt, islandId: ISLAND_ID, atMs: MADE_AT_MS + 1_000 });
  await store.jobs.move({ jobId: job.id, event: "start", attempt, islandId: null, atMs: MADE_AT_MS + 2_000 });
}

/** What an account may spend. */
export async function balanceOf(store: Store, accountId: string): Promise<number | undefined> {
  return (await store.accounts.get(accountId))?.balanceMicro;
}

/** A folder of its own, removed at the end of the `using` block or by a test's afterEach. */
export function temporaryFolder(): Disposable & { readonly path: string; file(name: string): string } {
  const path = mkdtempSync(join(tmpdir(), "atoll-store-"));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
