import { ServiceError } from "../../../shared/errors.ts";
import type { Ledger } from "./ledger.ts";

export interface LedgerOperations {
  grant(args: { accountId: string; micro: number; atMs: number }): void;
}

export function ledgerOperations(ledger: Ledger): LedgerOperations {
  return {
    grant({ accountId, micro, atMs }) {
      if (ledger.balance(`client:${accountId}`) === undefined) {
        throw new ServiceError("not_found", "There is no such account");
      }
      postGrant(ledger, accountId, micro, atMs);
    },
  };
}

/** Credits come from the network, whose balance tells how many were issued. */
export function postGrant(ledger: Ledger, accountId: string, micro: number, atMs: number): void {
  ledger.post(
    [
      { party: "network", micro: -micro, kind: "grant" },
      { party: `client:${accountId}`, micro, kind: "grant" },
    ],
    null,
    atMs,
  );
}
