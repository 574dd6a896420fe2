import type { RequestPlan } from "./simulated-client.ts";
import type { AuditEvent } from "./simulated-island.ts";

/**
 * One step of a history, as plain data. Any sublist of a history's steps is a history as well. Steps refer to objects
 * by number. A step that is impossible or contains an unknown number has no effect.
 */
export type Step =
  | { readonly do: "submit"; readonly plan: RequestPlan }
  /** The client repeats a request, with or without an earlier response. */
  | { readonly do: "repeat"; readonly request: number }
  /** The whole batch is cancelled if `nth` is null. */
  | { readonly do: "cancel"; readonly request: number; readonly nth: number | null }
  | { readonly do: "open"; readonly reader: number; readonly request: number; readonly nth: number }
  | { readonly do: "read"; readonly reader: number; readonly events: number }
  | { readonly do: "cut"; readonly reader: number }
  /** A disconnected Island connects. */
  | { readonly do: "dial"; readonly island: number }
  /** Delivers a frame to the coordinator or the Island. */
  | { readonly do: "up"; readonly link: number }
  | { readonly do: "down"; readonly link: number }
  | { readonly do: "stall"; readonly link: number }
  | { readonly do: "flow"; readonly link: number }
  /** One side detects the loss of a connection. Frames in flight to it are lost. */
  | { readonly do: "loseAtCoordinator"; readonly link: number }
  | { readonly do: "loseAtIsland"; readonly link: number }
  | { readonly do: "work"; readonly island: number; readonly run: number; readonly auditEvent: AuditEvent }
  /** A broken Island sends a false frame. */
  | { readonly do: "mischief"; readonly island: number; readonly pick: number }
  | { readonly do: "restartIsland"; readonly island: number }
  /** Commits the waiting transaction. */
  | { readonly do: "commit" }
  | { readonly do: "fillDisk" | "freeDisk" }
  /** Advances the clock to the next timer. */
  | { readonly do: "timer" }
  | { readonly do: "pass"; readonly ms: number }
  /** Sets the wall clock. */
  | { readonly do: "setClock"; readonly ms: number }
  /**
   * Kills the coordinator after this number of microtask ticks of `during`, or between two steps if it is null.
   * `isBlackout` kills all agents as well.
   */
  | {
      readonly do: "crash";
      readonly during: Step | null;
      readonly microtasks: number;
      readonly isBlackout: boolean;
    }
  | { readonly do: "start" };

/** Formats the step as a line of a history. */
export function describeStep(step: Step): string {
  if (step.do === "crash") {
    const when = step.during === null ? "" : ` ${step.microtasks} microtasks after: ${describeStep(step.during)}`;
    return `${step.isBlackout ? "blackout" : "crash"}${when}`;
  }
  const { do: what, ...facts } = step.do === "submit" ? { do: step.do, ...step.plan } : step;
  return [what, ...Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`)].join(" ");
}
