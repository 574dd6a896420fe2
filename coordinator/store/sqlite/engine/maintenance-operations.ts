import type Database from "better-sqlite3";
import { IDEMPOTENCY_KEPT_MS } from "../../idempotency.ts";
import { utcMonthOf } from "../../key-spending.ts";
import { pageBytesOf } from "./connection.ts";

/** A step moves at most as much from the end of the file into holes. */
const MOVED_BYTES = 1_024 * 1_024;
/** So much stays in the file for what comes next, so that it does not shrink and grow all the time. */
const KEPT_BYTES = 10 * MOVED_BYTES;

export interface MaintenanceOperations {
  /** Writes one small value: a count that grows by one each time. */
  check(args: Record<string, never>): number;
  /** Removes expired sessions, idempotency keys, password resets and changes of addresses, and what keys spent before the last month. */
  prune(args: { nowMs: number }): void;
  /** Gives some unused space back. True if there is more. */
  reclaim(args: Record<string, never>): boolean;
}

export function maintenanceOperations(db: Database.Database): MaintenanceOperations {
  const check = db.prepare<[], number>("UPDATE checks SET count = count + 1 WHERE id = 1 RETURNING count").pluck();
  const pruneSessions = db.prepare<[number]>("DELETE FROM sessions WHERE expires_at_ms <= ?");
  const pruneKeys = db.prepare<[number]>("DELETE FROM idempotency_keys WHERE created_at_ms <= ?");
  const pruneResets = db.prepare<[number]>("DELETE FROM password_resets WHERE expires_at_ms <= ?");
  const pruneEmails = db.prepare<[number]>("DELETE FROM email_changes WHERE expires_at_ms <= ?");
  const pruneSpending = db.prepare<[number]>("DELETE FROM key_spending WHERE month < ?");
  return {
    check: () => check.get() ?? 0,
    prune({ nowMs }) {
      pruneSessions.run(nowMs);
      pruneResets.run(nowMs);
      pruneEmails.run(nowMs);
      pruneSpending.run(utcMonthOf(nowMs) - 1);
      pruneKeys.run(nowMs - IDEMPOTENCY_KEPT_MS);
    },
    reclaim() {
      const pageBytes = pageBytesOf(db);
      const spare = (): number => (db.pragma("freelist_count", { simple: true }) as number) - KEPT_BYTES / pageBytes;
      if (db.pragma("auto_vacuum", { simple: true }) !== 2 || spare() <= 0) return false;
      db.pragma(`incremental_vacuum(${Math.min(MOVED_BYTES / pageBytes, Math.ceil(spare()))})`);
      return spare() > 0;
    },
  };
}
