import { expect } from "vitest";
import type { AuditEntry } from "../../../../coordinator/store/accounts/audit-log.ts";
import { GRANT_ACTION } from "../../../../coordinator/store/accounts/operators.ts";
import { type Check, MADE_AT_MS, makeAccount } from "./store-builders.ts";

const PAGE = { limit: 20, offset: 0 };

const entry = (override: Partial<AuditEntry> = {}): AuditEntry => ({
  atMs: MADE_AT_MS,
  via: "api",
  actor: "user_op",
  origin: "192.0.2.1",
  action: "account.suspend",
  targetKind: "account",
  targetId: "user_1",
  before: null,
  after: { because: "spam" },
  ...override,
});

export function describeAuditLog(check: Check): void {
  check("audit.list() returns appended lines, newest first, with any filter", async (store) => {
    const { audit } = store;
    const cargo = entry({ action: "cargo.approve", targetKind: "cargo", targetId: "tiny", before: { a: [1] } });
    const command = entry({ actor: "root", via: "command", after: "\u0000" });
    for (const each of [entry(), cargo, command]) await audit.append(each);
    const linesOf = async (filter: object, page = PAGE) => (await audit.list(filter, page)).lines;
    const line = { id: expect.any(Number) as number, email: null };
    expect(await linesOf({})).toEqual([command, cargo, entry()].map((each) => ({ ...line, ...each })));
    expect(await audit.list({ actor: "user_op" }, { limit: 1, offset: 1 })).toMatchObject({
      lines: [{ targetId: "user_1" }],
      total: 2,
    });
    expect(await linesOf({ action: "cargo.approve" })).toHaveLength(1);
    expect(await linesOf({ targetId: "user_1" })).toHaveLength(2);
    expect(await audit.latest(2)).toEqual([
      { id: line.id, atMs: MADE_AT_MS, action: "account.suspend", targetKind: "account", targetId: "user_1" },
      { id: line.id, atMs: MADE_AT_MS, action: "cargo.approve", targetKind: "cargo", targetId: "tiny" },
    ]);
  });

  check("audit.noting() adds a line only to a write that changes something", async (store) => {
    const id = await makeAccount(store, { grantMicro: 0 });
    const actionsOf = async () => (await store.audit.list({}, PAGE)).lines.map(({ action }) => action);
    const suspension = { reason: "spam", atMs: MADE_AT_MS };
    const noting = (action: string) => store.audit.noting(entry({ action }));
    expect(await noting("suspend").operators.suspendAccount(id, suspension)).toBe(true);
    expect(await noting("again").operators.suspendAccount(id, suspension)).toBe(false);
    await expect(noting("refused").accounts.setLimits("user_none", { share: 1 })).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await noting("read").accounts.get(id)).toMatchObject({ id });
    expect(await noting("limits").accounts.setLimits(id, { share: 7 })).toMatchObject({ share: 7 });
    expect(await noting("disable").catalog.setDisabled("hash", true, MADE_AT_MS)).toBe(true);
    expect(await noting("as it was").catalog.setDisabled("hash", true, MADE_AT_MS)).toBe(false);
    expect(await actionsOf()).toEqual(["disable", "limits", "suspend"]);
  });

  check("audit.noting() rolls back a write whose line cannot be stored", async (store) => {
    const id = await makeAccount(store, { grantMicro: 0 });
    const { accounts, catalog, operators } = store.audit.noting(entry({ via: "nobody" as never }));
    const suspension = { reason: "spam", atMs: MADE_AT_MS };
    const grant = { accountId: id, micro: 5, note: null, atMs: MADE_AT_MS, repeat: null };
    // Each operation is sent together with an unrelated write, which succeeds.
    const writes = [
      accounts.setLimits(id, { share: 7 }),
      catalog.setDisabled("hash", true, MADE_AT_MS),
      operators.suspendAccount(id, suspension),
      operators.setRole(id, "operator"),
      operators.grant(grant),
    ];
    const other = makeAccount(store, { grantMicro: 0 });
    for (const { status } of await Promise.allSettled(writes)) expect(status).toBe("rejected");
    const known = await store.operators.account(id);
    expect(known).toMatchObject({ role: "user", suspension: null, balanceMicro: 0 });
    expect(await store.accounts.limits(id)).toMatchObject({ share: null });
    expect((await store.catalog.snapshot()).disabledSlugs).toEqual([]);
    expect(await store.accounts.get(await other)).toBeDefined();
    expect(await store.audit.list({}, PAGE)).toEqual({ lines: [], total: 0 });
    expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [] });
  });

  check("operators.grant() grants once per key, even if repeats are concurrent", async (store) => {
    const [id, otherId] = [await makeAccount(store, { grantMicro: 0 }), await makeAccount(store, { grantMicro: 0 })];
    const grant = (accountId: string, micro: number, idempotencyKey: string | null, actor = "user_op") => {
      const after = { grantMicro: micro, ...(idempotencyKey === null ? {} : { idempotencyKey }) };
      const line = entry({ action: GRANT_ACTION, targetId: accountId, actor, after });
      const repeat = idempotencyKey === null ? null : { actor, idempotencyKey };
      return store.audit.noting(line).operators.grant({ accountId, micro, note: null, atMs: MADE_AT_MS, repeat });
    };
    const together = await Promise.all(Array.from({ length: 4 }, () => grant(id, 5, "k")));
    expect(together.filter(Boolean)).toEqual([true]);
    await expect(grant(id, 6, "k")).rejects.toMatchObject({ code: "idempotency_conflict" });
    expect(await grant(id, 6, "k", "user_op2")).toBe(true);
    expect(await grant(otherId, 5, "k")).toBe(true);
    expect(await grant(id, 5, null)).toBe(true);
    expect(await grant(id, 5, null)).toBe(true);
    expect(await store.accounts.get(id)).toMatchObject({ balanceMicro: 21 });
    expect((await store.audit.list({ targetId: id }, PAGE)).total).toBe(4);
  });

  check("operators.grant() rejects for an unknown, deleted or full account", async (store) => {
    const [gone, full] = [await makeAccount(store, { grantMicro: 0 }), await makeAccount(store, { grantMicro: 0 })];
    await store.accounts.delete(gone, MADE_AT_MS);
    const grant = (accountId: string, micro: number) =>
      store.operators.grant({ accountId, micro, note: null, atMs: MADE_AT_MS, repeat: null });
    for (const id of [gone, "user_none"]) await expect(grant(id, 1)).rejects.toMatchObject({ code: "not_found" });
    expect(await grant(full, Number.MAX_SAFE_INTEGER)).toBe(true);
    await expect(grant(full, 1)).rejects.toMatchObject({ code: "bad_request" });
    expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [] });
  });

  check("operators.setRole() does not make a suspended account an operator", async (store) => {
    const id = await makeAccount(store, { grantMicro: 0 });
    await store.operators.suspendAccount(id, { reason: "spam", atMs: MADE_AT_MS });
    expect(await store.operators.setRole(id, "operator")).toBe(false);
    expect(await store.accounts.accountStatus(id)).toMatchObject({ role: "user", suspensionReason: "spam" });
  });
}
