import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";
import { MADE_AT_MS, makeAccount } from "../contract/store-builders.ts";

await withDatabase(describeEnds);

function describeEnds(database: PostgresDatabase): void {
  describe("credentials that end in one statement", () => {
    it("increment the revision once, and are all reported", async () => {
      const clock = new ManualClock();
      await using opened = new AsyncDisposableStack();
      const store = database.store(clock);
      opened.defer(() => store.close());
      const accountId = await makeAccount(store);
      const tokens = Array.from({ length: 200 }, (_, index) => `token ${index}`);
      const expiresAtMs = MADE_AT_MS + 1_000;
      for (const tokenHash of tokens)
        await store.accounts.createSession(
          { tokenHash, accountId, createdAtMs: MADE_AT_MS, expiresAtMs },
          tokens.length,
        );
      const before = await store.cluster.credentialChanges.since(null);
      clock.advance(expiresAtMs - clock.now());
      await store.prune();
      const after = await store.cluster.credentialChanges.since(before.revision);
      expect(after.revision).toBe(before.revision + 1);
      expect(after.ended.toSorted()).toEqual(tokens.toSorted());
      clock.advance(3_600_000);
      await store.accounts.deleteSession("unknown");
      expect(await store.cluster.credentialChanges.since(after.revision)).toMatchObject({
        revision: after.revision,
        ended: [],
      });
    });
  });
}
