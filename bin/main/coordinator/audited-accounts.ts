import type { AccountStore } from "../../../coordinator/store/accounts/accounts.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { commandActor, trailOf } from "./operator-tools.ts";

type Write =
  | "create"
  | "createIslandToken"
  | "createKey"
  | "createPairingCode"
  | "createReset"
  | "revokeIslandToken"
  | "revokeKey";

interface AccountAuditEvent {
  readonly accountId: string;
  readonly action: string;
  readonly after: object;
}

/** The audit event that each write adds. It never contains a secret or the hash of one. */
const EVENTS: { readonly [Name in Write]: (...args: Parameters<AccountStore[Name]>) => AccountAuditEvent } = {
  create: ({ id, postings }) => {
    const grantMicro = postings.find(({ micro }) => micro > 0)?.micro ?? 0;
    return { accountId: id, action: "account.create", after: { grantMicro } };
  },
  createReset: ({ accountId, expiresAtMs }) => ({
    accountId,
    action: "account.reset_password",
    after: { expiresAtMs },
  }),
  createKey: ({ accountId, id, scopes, expiresAtMs, cargos, monthlyMicro }) => ({
    accountId,
    action: "api_key.create",
    after: { id, scopes, ...withoutNulls({ expiresAtMs, cargos, monthlyMicro }) },
  }),
  revokeKey: (accountId, id) => ({ accountId, action: "api_key.revoke", after: { id } }),
  createIslandToken: ({ accountId, id }) => ({ accountId, action: "island_token.create", after: { id } }),
  revokeIslandToken: (accountId, id) => ({ accountId, action: "island_token.revoke", after: { id } }),
  createPairingCode: ({ accountId, expiresAtMs }) => ({
    accountId,
    action: "pairing_code.create",
    after: { expiresAtMs },
  }),
};

function withoutNulls(limits: object): object {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null && value !== undefined));
}

type Method = (...args: readonly unknown[]) => unknown;

/** Returns the accounts of a store for commands. Each write adds its audit event in the same transaction. */
export function auditedAccounts(store: Store): AccountStore {
  const trail = trailOf(store);
  return new Proxy(store.accounts, {
    get(accounts, name: keyof AccountStore): Method {
      return (...args) => {
        let into = accounts;
        if (name in EVENTS) {
          const { accountId, ...entry } = (
            EVENTS[name as Write] as unknown as (...values: typeof args) => AccountAuditEvent
          )(...args);
          into = trail.noting(commandActor(), { ...entry, targetKind: "account", targetId: accountId }).accounts;
        }
        return (into[name] as Method).apply(into, [...args]);
      };
    },
  });
}
