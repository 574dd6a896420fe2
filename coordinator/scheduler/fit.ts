import type { CargoManifest } from "../../shared/cargo.ts";
import type { SchedulerIsland } from "./events.ts";

/** Why an Island cannot take jobs of a Cargo, in the order in which it is looked for. */
export const MISFITS = ["not_own", "runtime_missing", "too_little_ram", "too_little_vram", "draining"] as const;
export type Misfit = (typeof MISFITS)[number];

/** A Cargo as some of its jobs may run it. */
export interface ScheduledCargo extends CargoManifest {
  /** As `WaitingJob` has it. */
  readonly onlyIslandsOf: string | null;
}

export type CargoNeeds = Pick<
  ScheduledCargo,
  "runtimeType" | "requiredRamBytes" | "requiredVramBytes" | "onlyIslandsOf"
>;
export type IslandOffer = Pick<SchedulerIsland, "accountId" | "runtimes" | "ramBytes" | "vramBytes" | "draining">;

/** Whether the Island can serve the Cargo, whatever it does now; else the first thing in the way. Compare with `true`. */
export function fits(cargo: CargoNeeds, island: IslandOffer): true | Misfit {
  if (cargo.onlyIslandsOf !== null && cargo.onlyIslandsOf !== island.accountId) return "not_own";
  if (!island.runtimes.includes(cargo.runtimeType)) return "runtime_missing";
  if (cargo.requiredRamBytes > island.ramBytes) return "too_little_ram";
  if (cargo.requiredVramBytes > island.vramBytes) return "too_little_vram";
  if (island.draining) return "draining";
  return true;
}
