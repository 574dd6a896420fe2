import type { AccountStore } from "../../account-store.ts";
import type { Session } from "../engine/connection.ts";

/** Sets a password; sessions but the one that did it, resets and changes of the address that wait for their mail end. False for an account that is deleted. */
export async function setPassword(
  session: Session,
  { accountId, passwordHash, keptTokenHash }: Parameters<AccountStore["setPassword"]>[0],
): Promise<boolean> {
  const changed = await session.run("UPDATE accounts SET password_hash = $1 WHERE id = $2 AND deleted_at_ms IS NULL", [
    passwordHash,
    accountId,
  ]);
  if (changed === 0) return false;
  await session.run("DELETE FROM sessions WHERE account_id = $1 AND token_hash <> $2", [
    accountId,
    keptTokenHash ?? "",
  ]);
  await session.run("DELETE FROM password_resets WHERE account_id = $1", [accountId]);
  // Whoever knew the old password may have asked for another address.
  await session.run("DELETE FROM email_changes WHERE account_id = $1", [accountId]);
  return true;
}
