import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { SchedulerEffect, SchedulerEvent } from "../../../coordinator/scheduler/events.ts";
import { Scheduler } from "../../../coordinator/scheduler/scheduler.ts";
import { soakRounds } from "../../support/soak-rounds.ts";
import { makeCargo, makeIsland, makeJob, SCHEDULER_RULES } from "./builders.ts";

const IDS = ["isle-1", "isle-2", "isle-3"];
/** Time of a token of each Island: very different, so that jobs wait for the fastest. */
const TOKEN_MS = [1, 20, 400];

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("submit" as const), avoid: fc.subarray(IDS, { maxLength: 1 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("end" as const),
      nth: fc.nat(20),
      ok: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(20_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("down" as const), nth: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("up" as const), nth: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("drain" as const), nth: fc.nat(2), draining: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), nth: fc.nat(20) }) },
);

it("starts every job at last, also one for which a slot of a busy Island was reserved", () => {
  let reservations = 0;
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80, size: "max" }), (actions) => {
      const cargo = makeCargo();
      const scheduler = new Scheduler(() => cargo, ...SCHEDULER_RULES);
      const running = new Map<string, string>();
      const waiting = new Set<string>();
      let nowMs = 0;
      let jobs = 0;
      const carryOut = (effects: readonly SchedulerEffect[]): void => {
        for (const effect of effects) {
          if (effect.kind !== "assign") continue;
          expect(waiting.delete(effect.jobId)).toBe(true);
          running.set(effect.jobId, effect.islandId);
        }
      };
      const step = (event: SchedulerEvent): void => carryOut(scheduler.step(event, nowMs));
      const pass = (ms: number): void => {
        const untilMs = nowMs + ms;
        for (let wakeMs = scheduler.nextWakeMs; wakeMs !== null && wakeMs <= untilMs; wakeMs = scheduler.nextWakeMs) {
          nowMs = Math.max(nowMs, wakeMs);
          step({ kind: "time_passed" });
        }
        nowMs = untilMs;
      };
      const islandOf = (nth: number, draining = false) =>
        makeIsland({ id: IDS[nth] ?? "", slots: 2, loaded: ["llama"], rttMs: 1, draining });
      const up = (nth: number): void => {
        for (const [jobId, islandId] of running) if (islandId === IDS[nth]) running.delete(jobId);
        step({ kind: "island_up", island: islandOf(nth), busy: 0 });
      };
      const end = (jobId: string, ok: boolean): void => {
        const islandId = running.get(jobId) ?? "";
        step({ kind: "first_output", islandId, jobId });
        pass(50 * (TOKEN_MS[IDS.indexOf(islandId)] ?? 1));
        if (!running.delete(jobId)) return;
        const tokens = ok ? { prompt: 10, cached: null, output: 50 } : null;
        step({ kind: "run_ended", islandId, jobId, slug: "llama", succeeded: ok, tokens });
        step({ kind: "slot_freed", islandId, jobId });
      };
      for (const nth of IDS.keys()) up(nth);
      for (const each of actions) {
        if (each.do === "submit") {
          jobs += 1;
          const size = { input: 10, maxOutput: 50, promptParts: [] };
          waiting.add(`job_${jobs}`);
          step({ kind: "job_waiting", job: makeJob({ id: `job_${jobs}`, avoidIslands: each.avoid, size }) });
        } else if (each.do === "end") {
          const [jobId] = [...running.keys()].slice(each.nth % Math.max(1, running.size));
          if (jobId !== undefined) end(jobId, each.ok);
        } else if (each.do === "wait") pass(each.ms);
        else if (each.do === "down") {
          for (const [jobId, islandId] of running) if (islandId === IDS[each.nth]) running.delete(jobId);
          step({ kind: "island_down", islandId: IDS[each.nth] ?? "" });
        } else if (each.do === "up") up(each.nth);
        else if (each.do === "drain") step({ kind: "island_changed", island: islandOf(each.nth, each.draining) });
        else {
          const [jobId] = [...waiting].slice(each.nth % Math.max(1, waiting.size));
          if (jobId !== undefined) {
            waiting.delete(jobId);
            step({ kind: "job_gone", jobId });
          }
        }
        reservations += [...waiting].filter((id) => scheduler.heldFor(id) !== null).length;
        expect(scheduler.waitingCount).toBe(waiting.size);
      }
      for (const nth of IDS.keys()) up(nth);
      for (let round = 0; round < 500 && waiting.size + running.size > 0; round += 1) {
        const [jobId] = running.keys();
        if (jobId === undefined) pass(60_000);
        else end(jobId, true);
      }
      expect([...waiting], "jobs that never start").toEqual([]);
    }),
    { numRuns: soakRounds(1_000) },
  );
  expect(reservations, "the test must cause reservations").toBeGreaterThan(10);
});
