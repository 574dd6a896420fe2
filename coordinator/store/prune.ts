import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { firstIdAt } from "../../shared/ids.ts";
import { pruneCredentialEnds } from "./accounts/credential-changes.ts";
import { IDEMPOTENCY_KEPT_MS } from "./jobs/idempotency.ts";
import { utcMonthOf } from "./accounts/key-spending.ts";
import { DAY_MS } from "./ledger/host-metrics.ts";
import { foldNetworkMoves } from "./ledger/ledger.ts";
import { claimTurn } from "./work-division.ts";
import { write, type Opened } from "./steps/steps.ts";

const PRUNE_EVERY_MS = 3_600_000;
/** Time for which an audit is kept after the end of its job, once its earning is paid or refunded. */
const AUDITS_KEPT_MS = 90 * DAY_MS;
const REMOVALS = [
  "DELETE FROM sessions WHERE expires_at_ms <= @nowMs",
  "DELETE FROM password_resets WHERE expires_at_ms <= @nowMs",
  "DELETE FROM email_changes WHERE expires_at_ms <= @nowMs",
  "DELETE FROM key_spending WHERE month < @lastMonth",
  "DELETE FROM idempotency_keys WHERE created_at_ms <= @keptAfterMs",
  // Ids sort by the time of submission, so the primary key finds the rows.
  `DELETE FROM audits WHERE id < @submittedBefore AND ended_at_ms <= @endedBeforeMs
   AND earning <> 'held' AND verdict <> 'due'`,
];

export const maintenanceSteps = {
  /** Removes expired rows. In PostgreSQL it also folds the network's moves, and runs at one coordinator per hour. */
  prune: write(async (tx, nowMs: number): Promise<void> => {
    const isShared = tx.dialect === "postgres";
    if (isShared && !(await claimTurn(tx, "prune", PRUNE_EVERY_MS))) return;
    const endedBeforeMs = nowMs - AUDITS_KEPT_MS;
    const values = {
      nowMs,
      lastMonth: utcMonthOf(nowMs) - 1,
      keptAfterMs: nowMs - IDEMPOTENCY_KEPT_MS,
      endedBeforeMs,
      submittedBefore: firstIdAt("job", endedBeforeMs),
    };
    // oxlint-disable-next-line no-await-in-loop -- A few statements.
    for (const sql of REMOVALS) await tx.run(sql, values);
    if (!isShared) return;
    await pruneCredentialEnds(tx);
    await foldNetworkMoves(tx);
  }),
};

/** Returns the hourly pruning. `now` prunes at once and schedules the next run; `stop` ends it. */
export function pruneHourly({ prune }: Opened<typeof maintenanceSteps>, clock: Pick<Clock, "now" | "schedule">) {
  let timer: Timer | null = null;
  let fault: unknown = null;
  const now = async (): Promise<void> => {
    await prune(clock.now()).catch((error: unknown) => {
      // A storage fault is retried after an hour; the store itself reports it.
      if (!(error instanceof ServiceError)) throw error;
    });
    timer = clock.schedule(PRUNE_EVERY_MS, () => {
      now().catch((error: unknown) => {
        fault = error;
      });
    });
  };
  return {
    now,
    /** Throws the error of an earlier scheduled run, because nothing awaits such a run. */
    assertWorks: (): void => {
      if (fault !== null) throw new Error("The hourly cleanup of the store failed", { cause: fault });
    },
    stop: (): void => timer?.cancel(),
  };
}
