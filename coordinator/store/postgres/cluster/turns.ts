import type { Tx } from "../../tx.ts";

/** Now, in ms since the epoch, by the clock of the database. */
const NOW_MS = "extract(epoch FROM clock_timestamp()) * 1000";
/** Of a period: coordinators whose timers are a little apart take turns all the same. */
const SLACK = 0.9;

/** Whether this coordinator does the task now. Of all coordinators, one does it in each period. */
export async function takeTurn(tx: Tx, task: "prune" | "sweep", everyMs: number): Promise<boolean> {
  const taken = await tx.run(
    `INSERT INTO turns (task, taken_at_ms) VALUES (@task, (${NOW_MS})::bigint)
     ON CONFLICT (task) DO UPDATE SET taken_at_ms = excluded.taken_at_ms WHERE turns.taken_at_ms <= excluded.taken_at_ms - @periodMs`,
    { task, periodMs: Math.round(everyMs * SLACK) },
  );
  return taken === 1;
}
