import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../../../coordinator/store/store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { describeAccountSettings } from "./account-settings.cases.ts";
import { describeAccounts } from "./account-store.cases.ts";
import { describeAudits } from "./audit-store.cases.ts";
import { describeAuditLog } from "./audit-log.cases.ts";
import { describeBatches, describeWebhooks } from "./batch-store.cases.ts";
import { describeCatalog } from "./catalog-store.cases.ts";
import { describeContent } from "./content-store.cases.ts";
import { describeConversations } from "./conversation-store.cases.ts";
import { describeFeeds } from "./feed-store.cases.ts";
import { describeFileBatches } from "./file-batch-store.cases.ts";
import { describeFiles } from "./file-store.cases.ts";
import { describeJobRecovery } from "./job-recovery.cases.ts";
import { describeJobs } from "./job-store.cases.ts";
import { describeSubmissions } from "./job-submissions.cases.ts";
import { describeLateStarts } from "./late-starts.cases.ts";
import { describeLedger } from "./ledger-store.cases.ts";
import { describeHostFigures } from "./host-metrics.cases.ts";
import { describeKeySpending } from "./key-spending.cases.ts";
import { describeIslandTokens } from "./island-token-store.cases.ts";
import { describeIslands } from "./island-store.cases.ts";
import { describeUsage } from "./usage-store.cases.ts";
import { describeOperators } from "./operator-store.cases.ts";
import { firstGrant, makeAccount, makeJob, type Check } from "./store-builders.ts";

/** Declares the behaviour of every Store. `skip` maps a test title to the reason why a backend is exempt. */
export function describeStore(
  name: string,
  open: (clock: ManualClock) => Promise<Store>,
  skip: Record<string, string> = {},
): void {
  describe(`Store contract: ${name}`, () => {
    let store: Store;
    const check: Check = (title, body) => {
      const reason = skip[title];
      it.skipIf(reason !== undefined)(reason === undefined ? title : `${title} [${reason}]`, () => body(store));
    };
    beforeEach(async () => {
      store = await open(new ManualClock());
    });
    afterEach(() => store.close());

    describeAccounts(check);
    describeSubmissions(check);
    describeJobs(check);
    describeLateStarts(check);
    describeFeeds(check);
    describeJobRecovery(check);
    describeBatches(check);
    describeWebhooks(check);
    describeCatalog(check);
    describeContent(check);
    describeConversations(check);
    describeFileBatches(check);
    describeFiles(check);
    describeLedger(check);
    describeAudits(check);
    describeIslands(check);
    describeIslandTokens(check);
    describeHostFigures(check);
    describeKeySpending(check);
    describeUsage(check);
    describeAccountSettings(check);
    describeOperators(check);
    describeAuditLog(check);

    check("check() resolves while storage responds", (store) => store.check());

    check("queued counts the writes of jobs until they are committed", async (store) => {
      const accountId = await makeAccount(store);
      expect(store.queued).toBe(0);
      const submitted = [makeJob(accountId), makeJob(accountId)].map((job) => store.jobs.submit(job));
      expect(store.queued).toBe(2);
      await Promise.all(submitted);
      expect(store.queued).toBe(0);
    });

    check("close() waits for the writes in progress, and later calls reject", async (store) => {
      const granted = store.accounts.create({
        id: "user_1",
        email: "a@example.com",
        passwordHash: "hash",
        postings: firstGrant("user_1", 5),
        createdAtMs: 1,
      });
      await store.close();
      await expect(granted).resolves.toMatchObject({ balanceMicro: 5 });
      await expect(store.check()).rejects.toThrow(/closed/);
      await expect(store.accounts.get("user_1")).rejects.toThrow(/./);
    });

    check("close() lets a write in progress read what its result needs", async (store) => {
      const accountId = await makeAccount(store);
      const idempotency = { key: "k", bodyHash: "b" };
      const first = makeJob(accountId, { idempotency });
      await store.jobs.submit(first);
      const again = store.jobs.submit(makeJob(accountId, { idempotency }));
      await store.close();
      await expect(again).resolves.toMatchObject({ created: false, job: { id: first.id } });
    });

    check("close() can be called twice", async (store) => {
      await store.close();
      await store.close();
    });
  });
}
