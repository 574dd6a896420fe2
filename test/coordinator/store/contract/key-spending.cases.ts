import { expect } from "vitest";
import { KeyCreditsError } from "../../../../coordinator/credits/credit-errors.ts";
import { holdPostings } from "../../../../coordinator/credits/postings.ts";
import { monthBeginMs, utcMonthOf, type SubmittingKey } from "../../../../coordinator/store/accounts/key-spending.ts";
import type { NewJob } from "../../../../coordinator/store/jobs/job-store.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { balanceOf, type Check, MADE_AT_MS, makeAccount, makeEnding, makeJob, runJob } from "./store-builders.ts";

const MONTH = utcMonthOf(MADE_AT_MS);
const CREDIT = 1_000_000;

/** Creates a key that may spend the given credits per month. Each job needs one credit. */
const limited = (number: number, credits: number, { jobs = 1, month = MONTH } = {}): SubmittingKey => ({
  number,
  monthly: { limitMicro: credits * CREDIT, month, neededMicro: jobs * CREDIT },
});

const jobBy = (accountId: string, apiKey: SubmittingKey): NewJob => makeJob(accountId, { apiKey });

async function refusalOf(submitted: Promise<unknown>): Promise<unknown> {
  const error = await submitted.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof KeyCreditsError)) return error;
  return [error.requiredMicro / CREDIT, error.leftMicro / CREDIT, error.renewsAtMs];
}

async function submitBatch(store: Store, accountId: string, apiKey: SubmittingKey, count: number): Promise<unknown> {
  const jobs = Array.from({ length: count }, () => makeJob(accountId));
  const { slug, workloadId, priority, createdAtMs, webhook, idempotency } = jobs[0] as NewJob;
  const batch = { accountId, slug, workloadId, priority, createdAtMs, webhook, idempotency, jobs, apiKey };
  const postings = holdPostings(
    accountId,
    jobs.map(({ priceMicro }) => priceMicro),
  );
  const id = `batch_${jobs[0]?.id ?? ""}`;
  return store.batches.submit({ ...batch, id, postings, failMode: "best_effort", slotLimit: null });
}

export function describeKeySpending(check: Check): void {
  check("a key with a monthly limit spends the holds of its jobs, and gets the uncharged part back", async (store) => {
    const accountId = await makeAccount(store);
    const key = limited(1, 2);
    const [first, second] = [jobBy(accountId, key), jobBy(accountId, key)];
    await runJob(store, first);
    await runJob(store, second);
    const full = [1, 0, monthBeginMs(MONTH + 1)];
    expect(await refusalOf(store.jobs.submit(jobBy(accountId, key)))).toEqual(full);
    expect(await balanceOf(store, accountId)).toBe(8 * CREDIT);
    // Another key and a session are not affected.
    await store.jobs.submit(jobBy(accountId, limited(2, 1)));
    await store.jobs.submit(makeJob(accountId));

    await store.jobs.end(makeEnding(first));
    expect(await refusalOf(store.jobs.submit(jobBy(accountId, key)))).toEqual(full);
    await store.jobs.end(makeEnding(second, { event: "cancel", chargeMicro: 0 }));
    await store.jobs.submit(jobBy(accountId, key));
    expect(await refusalOf(store.jobs.submit(jobBy(accountId, key)))).toEqual(full);
  });

  check("a batch counts as the sum of its jobs, or is refused as a whole", async (store) => {
    const accountId = await makeAccount(store);
    await submitBatch(store, accountId, limited(1, 3, { jobs: 2 }), 2);
    const refused = submitBatch(store, accountId, limited(1, 3, { jobs: 2 }), 2);
    expect(await refusalOf(refused)).toEqual([2, 1, monthBeginMs(MONTH + 1)]);
    expect((await store.jobs.list(accountId, { limit: 10, offset: 0 }, {})).total).toBe(2);
    await store.jobs.submit(jobBy(accountId, limited(1, 3)));
  });

  check(
    "a key's spending restarts each month, and a late end returns credits to the month of its job",
    async (store) => {
      const accountId = await makeAccount(store);
      const [now, next] = [limited(1, 1), limited(1, 1, { month: MONTH + 1 })];
      const late = jobBy(accountId, now);
      await runJob(store, late);
      await store.jobs.submit(jobBy(accountId, next));
      await store.jobs.end(makeEnding(late, { event: "cancel", chargeMicro: 0 }));
      expect(await refusalOf(store.jobs.submit(jobBy(accountId, next)))).toEqual([1, 0, monthBeginMs(MONTH + 2)]);
    },
  );

  check("concurrent submissions never exceed the monthly limit of their key", async (store) => {
    const accountId = await makeAccount(store);
    const jobs = Array.from({ length: 6 }, () => jobBy(accountId, limited(1, 4)));
    const submitted = await Promise.allSettled(jobs.map((job) => store.jobs.submit(job)));
    expect(submitted.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
  });
}
