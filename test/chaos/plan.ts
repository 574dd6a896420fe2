import { Random } from "../support/random.ts";
import type { WriteFault } from "./file-faults.ts";

export const ISLANDS = 4;

/** Faults of a process. `stop`: SIGSTOP, then SIGCONT after `forMs`. */
export type ProcessFault = "kill" | "term" | "stop";
/** Faults of a `Link`. */
export type LinkFault = "cut" | "reset" | "stall" | "stall-up" | "stall-down" | "half-open" | "delay";

export type Fault =
  | { readonly on: "coordinator"; readonly does: ProcessFault; readonly forMs: number }
  | { readonly on: "island"; readonly index: number; readonly does: ProcessFault; readonly forMs: number }
  /** Processes of an Island that run models. */
  | { readonly on: "host"; readonly index: number; readonly does: "kill" | "stop"; readonly forMs: number }
  | { readonly on: "link"; readonly index: number | "clients"; readonly does: LinkFault; readonly forMs: number }
  /** The coordinator's wall clock jumps. */
  | { readonly on: "clock"; readonly bySeconds: number }
  /** Fills the coordinator's disk. */
  | { readonly on: "disk"; readonly forMs: number }
  /** The coordinator's file calls fail with EIO, even after a restart. */
  | { readonly on: "writes"; readonly does: WriteFault; readonly forMs: number };

export type FaultKind = Fault["on"];

export interface PlannedFault {
  readonly atMs: number;
  readonly fault: Fault;
}

const WEIGHTS: Readonly<Record<FaultKind, number>> = {
  coordinator: 3,
  island: 5,
  host: 4,
  link: 8,
  clock: 1,
  disk: 1,
  writes: 2,
};
const MEAN_GAP_MS = 900;
/** This is below the grace period, after which losing jobs is correct. */
const MAX_FAULT_MS = 4_000;

/** Returns the faults of a run, which depend only on the seed. @param kinds kinds that the machine permits. */
export function makePlan(seed: number, durationMs: number, kinds: readonly FaultKind[]): PlannedFault[] {
  const random = new Random(seed);
  const lots = kinds.flatMap((kind) => Array<FaultKind>(WEIGHTS[kind]).fill(kind));
  const plan: PlannedFault[] = [];
  for (let atMs = 2_000; ;) {
    atMs += random.between(MEAN_GAP_MS / 3, (MEAN_GAP_MS * 5) / 3);
    if (atMs >= durationMs) return plan;
    plan.push({ atMs, fault: makeFault(random.pick(lots), random) });
  }
}

function makeFault(kind: FaultKind, random: Random): Fault {
  const forMs = random.between(100, MAX_FAULT_MS);
  const index = random.between(0, ISLANDS - 1);
  switch (kind) {
    case "coordinator":
      return { on: kind, does: random.pick(["kill", "kill", "term", "stop"]), forMs };
    case "island":
      return { on: kind, index, does: random.pick(["kill", "kill", "term", "stop"]), forMs };
    case "host":
      return { on: kind, index, does: random.pick(["kill", "kill", "stop"]), forMs };
    case "link": {
      const all = ["cut", "cut", "reset", "stall", "stall-up", "stall-down", "half-open", "delay"] as const;
      return { on: kind, index: random.chance(0.3) ? "clients" : index, does: random.pick(all), forMs };
    }
    case "clock":
      return { on: kind, bySeconds: random.pick([-3_600, -60, -5, 5, 60, 3_600]) };
    case "disk":
      return { on: kind, forMs };
    case "writes":
      return { on: kind, does: random.pick(["write", "sync", "some"]), forMs };
    default:
      return kind satisfies never;
  }
}

export function describeFault(fault: Fault): string {
  const index = "index" in fault ? ` ${fault.index}` : "";
  const does = "does" in fault ? ` ${fault.does}` : "";
  return `${fault.on}${index}${does}`;
}
