import type { RequestPlan } from "./simulated-client.ts";
import type { AuditEvent } from "./simulated-island.ts";

/**
 * One choice of the seed, as plain data: a history is a list of steps, and a shorter list of the same steps is a history too. Steps name
 * things by number; one that names what is not there, or is not possible now, does nothing.
 */
export type Step =
  | { readonly do: "submit"; readonly plan: RequestPlan }
  /** The client sends the same request again, whether it has an answer or not. */
  | { readonly do: "repeat"; readonly request: number }
  /** `nth` null: the whole batch. */
  | { readonly do: "cancel"; readonly request: number; readonly nth: number | null }
  | { readonly do: "open"; readonly reader: number; readonly request: number; readonly nth: number }
  | { readonly do: "read"; readonly reader: number; readonly events: number }
  | { readonly do: "cut"; readonly reader: number }
  /** An Island without a connection opens one. */
  | { readonly do: "dial"; readonly island: number }
  /** A frame arrives at the coordinator, or at the Island. */
  | { readonly do: "up"; readonly link: number }
  | { readonly do: "down"; readonly link: number }
  | { readonly do: "stall"; readonly link: number }
  | { readonly do: "flow"; readonly link: number }
  /** One side learns that the connection is gone; what was under way to it is lost. */
  | { readonly do: "loseAtCoordinator"; readonly link: number }
  | { readonly do: "loseAtIsland"; readonly link: number }
  | { readonly do: "work"; readonly island: number; readonly run: number; readonly auditEvent: AuditEvent }
  /** A broken Island sends a frame that no honest one sends. */
  | { readonly do: "mischief"; readonly island: number; readonly pick: number }
  | { readonly do: "restartIsland"; readonly island: number }
  /** The transaction that waits is committed and answered. */
  | { readonly do: "commit" }
  | { readonly do: "fillDisk" | "freeDisk" }
  /** The clock moves on to the next timer. */
  | { readonly do: "timer" }
  | { readonly do: "pass"; readonly ms: number }
  /** The wall clock is set. */
  | { readonly do: "setClock"; readonly ms: number }
  /** SIGKILL: so many turns of the microtask queue after `during` was begun; null: between two steps. `isBlackout`: of all agents too. */
  | {
      readonly do: "crash";
      readonly during: Step | null;
      readonly microtasks: number;
      readonly isBlackout: boolean;
    }
  | { readonly do: "start" };

/** As a line of a history. */
export function describeStep(step: Step): string {
  if (step.do === "crash") {
    const when = step.during === null ? "" : ` ${step.microtasks} microtasks after: ${describeStep(step.during)}`;
    return `${step.isBlackout ? "blackout" : "crash"}${when}`;
  }
  const { do: what, ...facts } = step.do === "submit" ? { do: step.do, ...step.plan } : step;
  return [what, ...Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`)].join(" ");
}
