import { expect, it } from "vitest";
import { unsharedCredentials } from "../../../coordinator/cluster/credential-watch.ts";
import { openSqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";

it("unsharedCredentials() ends what is open with a session that another process has ended, and nothing else", async () => {
  using folder = temporaryFolder();
  const options = { path: folder.file("atoll.db"), clock: new ManualClock() };
  const [store, other] = [await openSqliteStore(options), await openSqliteStore(options)];
  const accountId = await makeAccount(store);
  for (const tokenHash of ["stays", "goes"]) {
    const session = { tokenHash, accountId, createdAtMs: 0, expiresAtMs: options.clock.now() + 1_000 };
    await store.accounts.createSession(session, 20);
  }
  const ended: string[] = [];
  const credentials = unsharedCredentials(store.accounts);
  credentials.serve({ end: (credential) => ended.push(credential), open: () => ["stays", "goes"] });
  await credentials.revision();
  expect(ended).toEqual([]);
  await other.accounts.deleteSession("goes");
  await credentials.revision();
  await expect.poll(() => ended).toEqual(["goes"]);
  await credentials.revision();
  expect(ended).toEqual(["goes"]);
  await Promise.all([store.close(), other.close()]);
});
