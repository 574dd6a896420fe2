import { ServiceError } from "../../shared/errors.ts";
import type { AccountStore } from "../store/account-store.ts";

/** The operator suspended the account of the caller. */
export function accountSuspended(because: string): ServiceError {
  return new ServiceError("account_suspended", `The operator suspended this account: ${because}`);
}

/** @throws {ServiceError} `account_suspended` */
export async function assertNotSuspended(store: Pick<AccountStore, "standing">, accountId: string): Promise<void> {
  const because = (await store.standing(accountId))?.suspendedBecause ?? null;
  if (because !== null) throw accountSuspended(because);
}
