import type { CargoManifest } from "../../shared/cargo.ts";
import { disallowedBy, DISALLOWED } from "../../shared/owner-policy.ts";
import type { SchedulerIsland, WorkKind } from "./events.ts";

/** Reasons why an Island does not fit a Cargo, in the order of the checks. */
export const MISFITS = [
  "not_own",
  "runtime_missing",
  ...DISALLOWED,
  "feature_missing",
  "too_little_ram",
  "too_little_vram",
  "too_little_disk",
  "draining",
] as const;
export type Misfit = (typeof MISFITS)[number];

export interface KnownCargo extends CargoManifest {
  /** The only account that may run the Cargo until it is approved; absent for a public Cargo. */
  readonly privateTo?: string;
}

export type ScheduledCargo = KnownCargo & WorkKind;

type CargoNeeds = Pick<
  ScheduledCargo,
  | "slug"
  | "runtimeType"
  | "requiredRamBytes"
  | "requiredVramBytes"
  | "onlyIslandsOf"
  | "category"
  | "container"
  | "features"
>;
type IslandOffer = Pick<
  SchedulerIsland,
  "accountId" | "runtimes" | "ramBytes" | "vramBytes" | "draining" | "policy" | "features" | "noSpaceFor"
>;

/**
 * Returns `true` if the Island can serve the Cargo once it has a free slot; otherwise the first reason why it cannot.
 */
export function fits(cargo: CargoNeeds, island: IslandOffer): true | Misfit {
  if (cargo.onlyIslandsOf !== null && cargo.onlyIslandsOf !== island.accountId) return "not_own";
  const disallowed = island.policy && disallowedBy(island.policy, cargo, cargo.onlyIslandsOf === null);
  // An Island whose owner allows no containers reports no runtime for them.
  if (disallowed === "runtime_disallowed") return disallowed;
  if (!island.runtimes.includes(cargo.runtimeType)) return "runtime_missing";
  if (disallowed) return disallowed;
  if (cargo.features?.some((name) => island.features?.includes(name) !== true)) return "feature_missing";
  if (cargo.requiredRamBytes > island.ramBytes) return "too_little_ram";
  if (cargo.requiredVramBytes > island.vramBytes) return "too_little_vram";
  if (island.noSpaceFor?.includes(cargo.slug) === true) return "too_little_disk";
  if (island.draining) return "draining";
  return true;
}
