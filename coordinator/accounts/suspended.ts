import { ServiceError } from "../../shared/errors.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";

/** The operator suspended the account of the caller. */
export function accountSuspended(because: string): ServiceError {
  return new ServiceError("account_suspended", `The operator suspended this account: ${because}`);
}

/** False for an account that was deleted. @throws {ServiceError} `account_suspended` */
export async function assertNotSuspended(store: Pick<AccountStore, "standing">, accountId: string): Promise<boolean> {
  const standing = await store.standing(accountId);
  const because = standing?.suspendedBecause ?? null;
  if (because !== null) throw accountSuspended(because);
  return standing !== undefined;
}
