import type { SchedulerEvent } from "../../../coordinator/scheduler/events.ts";
import type { Scheduler } from "../../../coordinator/scheduler/scheduler.ts";
import { NaiveScheduler } from "./naive-scheduler.ts";
import { findCargo, newScheduler, Runs } from "./random-events.ts";

/** Runs both schedulers on the same events, compares their effects, and calls `check` after every step. */
export function replay(
  list: readonly SchedulerEvent[],
  check: (real: Scheduler, naive: NaiveScheduler, event: SchedulerEvent) => void,
): { real: Scheduler; naive: NaiveScheduler } {
  const real = newScheduler();
  const naive = new NaiveScheduler(findCargo);
  const runs = new Runs();
  for (const listed of list) {
    const each = runs.begin(listed);
    const held = new Map([...naive.waiting.keys()].map((id) => [id, real.heldFor(id)]));
    const effects = real.step(each, runs.nowMs);
    runs.end(effects);
    naive.step(
      each,
      runs.nowMs,
      effects,
      (id) => held.get(id) ?? null,
      (id) => real.heldFor(id),
    );
    check(real, naive, each);
  }
  return { real, naive };
}
