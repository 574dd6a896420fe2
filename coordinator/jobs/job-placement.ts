import type { Choice } from "../scheduler/events.ts";

/** Why a job is on its Island, or which Island it waits for. Only operators see it. */
export interface JobPlacement {
  /** The choice of the Island that has the job, or had it at its end; null without an Island. */
  readonly choice: Choice | null;
  /** The busy Island of which a slot is reserved for the waiting job; null without a reservation. */
  readonly reservedIslandId: string | null;
}
