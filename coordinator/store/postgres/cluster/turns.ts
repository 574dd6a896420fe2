import type { Session } from "../engine/connection.ts";
import { NOW_MS } from "./gone.ts";

/** Of a period: coordinators whose timers are a little apart take turns all the same. */
const SLACK = 0.9;

/** Whether this coordinator does the task now. Of all coordinators, one does it in each period. */
export async function takeTurn(session: Session, task: "prune" | "sweep", everyMs: number): Promise<boolean> {
  const taken = await session.run(
    `INSERT INTO turns (task, taken_at_ms) VALUES ($1, (${NOW_MS})::bigint)
     ON CONFLICT (task) DO UPDATE SET taken_at_ms = excluded.taken_at_ms WHERE turns.taken_at_ms <= excluded.taken_at_ms - $2`,
    [task, Math.round(everyMs * SLACK)],
  );
  return taken === 1;
}
