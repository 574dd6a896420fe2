import { hash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { Scheduler } from "../../coordinator/scheduler/scheduler.ts";
import type { SchedulerEffect, WaitingJob } from "../../coordinator/scheduler/events.ts";
import { serveWorker } from "../harness/worker.ts";
import { seeded } from "./fleets.ts";
import { cargoOf, factsOf } from "./run-fleet.ts";

/** Worker process: the real scheduler with many modelled Islands. */

/** Rounds of decisions, of which the second half counts. */
const ROUNDS = 20;

/**
 * Returns the mean µs of a decision: an arriving chat with eight messages, until its Island is known. The first rounds
 * compile the code and fill the fleet.
 */
function measure({ islands, decisions }: { readonly islands: number; readonly decisions: number }): number {
  const random = seeded(1);
  const scheduler = new Scheduler((slug) => cargoOf(slug), 0.5, 0.02, 1_000, random);
  const plan = { slots: 4, slugs: ["chat"], memoryModels: 1 };
  const speeds = { alphaMs: 1, betaMs: 1, readMsPerToken: 1, loadMs: 1 };
  let nowMs = 0;
  for (let nth = 0; nth < islands; nth += 1) {
    const id = `isle-${nth}`;
    const facts = { ...plan, id, nth, speeds, hardwareClass: `class-${nth % 20}` };
    scheduler.step({ kind: "island_up", island: factsOf(facts, ["chat"]), busy: 0 }, nowMs);
  }
  const running: { readonly jobId: string; readonly islandId: string }[] = [];
  const note = (effects: readonly SchedulerEffect[]): void => {
    for (const effect of effects) if (effect.kind === "assign") running.push(effect);
  };
  const rounds: number[] = [];
  let jobs = 0;
  while (rounds.length < ROUNDS) {
    let spentMs = 0;
    for (let decision = 0; decision < decisions; decision += 1) {
      nowMs += 1;
      jobs += 1;
      const job = chatJob(jobs, nowMs);
      const beganMs = performance.now();
      const effects = scheduler.step({ kind: "job_offered", job }, nowMs);
      spentMs += performance.now() - beganMs;
      note(effects);
      if (running.length < 2 * islands) continue;
      const at = Math.floor(random() * running.length);
      const ended = running[at];
      const last = running.pop();
      if (ended === undefined || last === undefined) continue;
      if (ended !== last) running[at] = last;
      const { jobId, islandId } = ended;
      const tokens = { prompt: 800, cached: 0, output: 100 };
      scheduler.step({ kind: "first_output", jobId, islandId }, nowMs);
      scheduler.step({ kind: "run_ended", jobId, islandId, slug: "chat", succeeded: true, tokens }, nowMs);
      note(scheduler.step({ kind: "slot_freed", jobId, islandId }, nowMs));
    }
    rounds.push((1_000 * spentMs) / decisions);
  }
  const warm = rounds.slice(ROUNDS / 2);
  return warm.reduce((sum, us) => sum + us, 0) / warm.length;
}

function chatJob(nth: number, nowMs: number): WaitingJob {
  const promptParts = Array.from({ length: 8 }, (_, part) => ({
    hash: hash("sha1", `${Math.floor(nth / 5)} ${part}`, "buffer").readInt32LE(),
    tokens: 100 * (part + 1),
  }));
  return {
    id: `job_${nth}`,
    accountId: `user_${nth % 50}`,
    share: 100,
    slug: "chat",
    jobClass: "chat",
    onlyIslandsOf: null,
    priority: 50,
    createdAtMs: nowMs,
    waitLimitMs: 3_600_000,
    avoidIslands: [],
    size: { input: 800, maxOutput: 500, promptParts },
  };
}

const api = { measure };
export type DecisionApi = typeof api;
serveWorker(api);
