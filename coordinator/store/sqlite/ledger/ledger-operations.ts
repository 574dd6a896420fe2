import { ServiceError } from "../../../../shared/errors.ts";
import type { Ledger } from "./ledger.ts";

/** Most that the network may have issued; an integer of the database has twice that. No other party can have more. */
const MAX_ISSUED_MICRO = 2n ** 62n;
/** Most that a grant may lift a balance to: it is told to its account as a double. */
const MAX_GRANTED_MICRO = BigInt(Number.MAX_SAFE_INTEGER);

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

/** Credits come from the network, whose balance tells how many were issued. @throws {ServiceError} `bad_request` beyond what the books can hold. */
export function postGrant(ledger: Ledger, accountId: string, micro: number, atMs: number): void {
  const added = BigInt(micro);
  if ((ledger.balance(`client:${accountId}`) ?? 0n) + added > MAX_GRANTED_MICRO) {
    throw new ServiceError("bad_request", "With this grant the account would have more than 9,007,199,254 credits");
  }
  if (added - (ledger.balance("network") ?? 0n) > MAX_ISSUED_MICRO) {
    throw new ServiceError(
      "bad_request",
      "With this grant the network would have issued more than 4,611,686,018,427 credits",
    );
  }
  ledger.post(
    [
      { party: "network", micro: -micro, kind: "grant" },
      { party: `client:${accountId}`, micro, kind: "grant" },
    ],
    null,
    atMs,
  );
}
