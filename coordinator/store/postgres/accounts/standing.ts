import type { AccountLimits, AccountStanding } from "../../account-store.ts";
import type { Session } from "../engine/connection.ts";
import { textFromColumn } from "../engine/text.ts";

const STANDING = `SELECT requests_per_minute AS "requestsPerMinute", concurrent_jobs AS "concurrentJobs",
  concurrent_streams AS "concurrentStreams", share, role, suspended_because AS "suspendedBecause" FROM accounts
  WHERE id = $1 AND deleted_at_ms IS NULL`;

/** Undefined for an unknown or deleted account. */
export async function readStanding(session: Session, accountId: string): Promise<AccountStanding | undefined> {
  const row = await session.one<AccountLimits & Omit<AccountStanding, "limits">>(STANDING, [accountId]);
  if (row === undefined) return undefined;
  const { role, suspendedBecause, ...limits } = row;
  return { limits, role, suspendedBecause: textFromColumn(suspendedBecause) };
}
