import { afterEach, beforeEach, expect, it } from "vitest";
import { auditedAccounts } from "../../../../bin/main/coordinator/audited-accounts.ts";
import { openAccounts, type Accounts } from "../../../../coordinator/accounts/accounts.ts";
import { unsharedCredentials } from "../../../../coordinator/cluster/credential-watch.ts";
import { quickPasswords } from "../../../support/quick-passwords.ts";
import { testEnv } from "../../../support/test-env.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { openTestStore, type TestStore } from "../../../support/store/test-store.ts";
import { temporaryFolder } from "../../../coordinator/store/contract/store-builders.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: TestStore;
let accounts: Accounts;
beforeEach(async () => {
  folder = temporaryFolder();
  const clock = new ManualClock();
  store = await openTestStore({ path: folder.file("atoll.db"), clock });
  const env = testEnv({ newAccountMicro: 5 }, { clock });
  accounts = openAccounts(
    env,
    auditedAccounts(store),
    "closed",
    unsharedCredentials(store.accounts, env),
    quickPasswords(),
  );
});
afterEach(async () => {
  await store.close();
  folder[Symbol.dispose]();
});

it("auditedAccounts() records each credential that commands create or revoke in the audit log, without secrets", async () => {
  const { id } = await accounts.createAccount({ email: "ann@example.com", password: "correct horse battery" });
  const { key, secret } = await accounts.createKey(id);
  const { token, secret: tokenSecret } = await accounts.islandTokens.create(id);
  const { code } = await accounts.islandTokens.createCode(id);
  const reset = await accounts.passwordChanges.createReset(id);
  expect(await accounts.revokeKey(id, key.id)).toBe(true);
  expect(await accounts.islandTokens.revoke(id, token.id)).toBe(true);
  // These commands change nothing.
  expect(await accounts.revokeKey(id, key.id)).toBe(false);
  await expect(accounts.createAccount({ email: "ann@example.com", password: "x".repeat(12) })).rejects.toMatchObject({
    code: "email_taken",
  });
  expect(await accounts.listKeys(id)).toEqual([]);
  const { lines } = await store.audit.list({}, { limit: 20, offset: 0 });
  expect(lines.map(({ action, after }) => [action, after])).toEqual([
    ["island_token.revoke", { id: token.id }],
    ["api_key.revoke", { id: key.id }],
    ["account.reset_password", { expiresAtMs: reset.expiresAtMs }],
    ["pairing_code.create", { expiresAtMs: expect.any(Number) }],
    ["island_token.create", { id: token.id }],
    ["api_key.create", { id: key.id, scopes: ["read", "write"] }],
    ["account.create", { grantMicro: 5 }],
  ]);
  for (const line of lines) expect(line).toMatchObject({ via: "command", targetKind: "account", targetId: id });
  const text = JSON.stringify(lines);
  for (const each of [secret, tokenSecret, code, reset.token]) expect(text).not.toContain(each);
});
