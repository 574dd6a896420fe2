import { Random } from "../support/random.ts";

export const ISLANDS = 4;

/** What a process may suffer. `stop` is SIGSTOP, ended by SIGCONT after `forMs`. */
export type ProcessFault = "kill" | "term" | "stop";
/** What a link may suffer: see `Link`. */
export type LinkFault = "cut" | "reset" | "stall" | "stall-up" | "stall-down" | "half-open" | "delay";

export type Fault =
  | { readonly on: "coordinator"; readonly does: ProcessFault; readonly forMs: number }
  /** The agent of an Island. */
  | { readonly on: "island"; readonly index: number; readonly does: ProcessFault; readonly forMs: number }
  /** A process in which an Island runs a model. */
  | { readonly on: "host"; readonly index: number; readonly does: "kill" | "stop"; readonly forMs: number }
  | { readonly on: "link"; readonly index: number | "clients"; readonly does: LinkFault; readonly forMs: number }
  /** The coordinator's wall clock jumps. */
  | { readonly on: "clock"; readonly bySeconds: number }
  /** The coordinator's disk is full. */
  | { readonly on: "disk"; readonly forMs: number };

export type FaultKind = Fault["on"];

export interface PlannedFault {
  readonly atMs: number;
  readonly fault: Fault;
}

const WEIGHTS: Readonly<Record<FaultKind, number>> = { coordinator: 3, island: 5, host: 4, link: 8, clock: 1, disk: 1 };
const MEAN_GAP_MS = 900;
/** The coordinator is down or frozen at most this long: beyond the grace, Islands lose jobs rightly. */
const MAX_FAULT_MS = 4_000;

/** Faults of a run, from the seed alone. @param kinds those that the machine permits. */
export function planOf(seed: number, durationMs: number, kinds: readonly FaultKind[]): PlannedFault[] {
  const random = new Random(seed);
  const lots = kinds.flatMap((kind) => Array<FaultKind>(WEIGHTS[kind]).fill(kind));
  const plan: PlannedFault[] = [];
  for (let atMs = 2_000; ;) {
    atMs += random.between(MEAN_GAP_MS / 3, (MEAN_GAP_MS * 5) / 3);
    if (atMs >= durationMs) return plan;
    plan.push({ atMs, fault: faultOf(random.pick(lots), random) });
  }
}

function faultOf(kind: FaultKind, random: Random): Fault {
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
    default:
      return kind satisfies never;
  }
}

/** For the log of a run. */
export function describeFault(fault: Fault): string {
  const index = "index" in fault ? ` ${fault.index}` : "";
  const does = "does" in fault ? ` ${fault.does}` : "";
  return `${fault.on}${index}${does}`;
}
