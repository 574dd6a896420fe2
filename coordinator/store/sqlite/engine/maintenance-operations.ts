import type Database from "better-sqlite3";
import { IDEMPOTENCY_WINDOW_MS } from "../../idempotency.ts";

export interface MaintenanceOperations {
  /** Writes one small value: a count that grows by one each time. */
  check(args: Record<string, never>): number;
  /** Removes expired sessions, idempotency keys and password resets. */
  prune(args: { nowMs: number }): void;
}

export function maintenanceOperations(db: Database.Database): MaintenanceOperations {
  const check = db.prepare<[], number>("UPDATE checks SET count = count + 1 WHERE id = 1 RETURNING count").pluck();
  const pruneSessions = db.prepare<[number]>("DELETE FROM sessions WHERE expires_at_ms <= ?");
  const pruneKeys = db.prepare<[number]>("DELETE FROM idempotency_keys WHERE created_at_ms <= ?");
  const pruneResets = db.prepare<[number]>("DELETE FROM password_resets WHERE expires_at_ms <= ?");
  return {
    check: () => check.get() ?? 0,
    prune({ nowMs }) {
      pruneSessions.run(nowMs);
      pruneResets.run(nowMs);
      pruneKeys.run(nowMs - IDEMPOTENCY_WINDOW_MS);
    },
  };
}
