import type { Session } from "../engine/connection.ts";

/** Calls that count what an account has take turns. */
export async function lockAccount(session: Session, accountId: string): Promise<void> {
  await session.run("SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE", [accountId]);
}
