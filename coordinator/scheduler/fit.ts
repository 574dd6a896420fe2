import { isServedBy, type CargoManifest } from "../../shared/cargo.ts";
import type { EngineModelReport } from "../../shared/protocol/from-island.ts";
import { disallowedBy, DISALLOWED } from "../../shared/owner-policy.ts";
import { PROVEN_FEATURE } from "../credits/trust.ts";
import type { SchedulerIsland, WorkKind } from "./events.ts";

/** Reasons why an Island does not fit a Cargo, in the order of the checks. */
export const MISFITS = [
  "not_own",
  "runtime_missing",
  ...DISALLOWED,
  "not_proven",
  "owner_refused",
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
  /** Accounts whose Islands get no jobs of the Cargo, because of their answers; absent for none. */
  readonly refusedOwners?: ReadonlySet<string>;
  /** Returns whether jobs of the trust `proven` may run on Islands of the account; absent if on none. */
  readonly isProvenOwner?: (accountId: string) => boolean;
}

export type ScheduledCargo = KnownCargo & WorkKind;

type CargoNeeds = Pick<
  ScheduledCargo,
  | "model"
  | "parts"
  | "adapters"
  | "contextTokens"
  | "slug"
  | "runtimeType"
  | "requiredRamBytes"
  | "requiredVramBytes"
  | "onlyIslandsOf"
  | "privateTo"
  | "refusedOwners"
  | "isProvenOwner"
  | "category"
  | "container"
  | "features"
>;
type IslandOffer = Pick<
  SchedulerIsland,
  | "accountId"
  | "runtimes"
  | "ramBytes"
  | "vramBytes"
  | "draining"
  | "policy"
  | "features"
  | "noSpaceFor"
  | "engineModels"
>;

/**
 * Returns `true` if the Island can serve the Cargo once it has a free slot; otherwise the first reason why it cannot.
 */
export function fits(cargo: CargoNeeds, island: IslandOffer): true | Misfit {
  if (cargo.onlyIslandsOf !== null && cargo.onlyIslandsOf !== island.accountId) return "not_own";
  const served = engineModelFor(cargo, island);
  if (served !== undefined) return fitsEngine(cargo, island, served);
  const disallowed = island.policy && disallowedBy(island.policy, cargo, cargo.privateTo === undefined);
  // An Island whose owner allows no containers reports no runtime for them.
  if (disallowed === "runtime_disallowed") return disallowed;
  if (!island.runtimes.includes(cargo.runtimeType)) return "runtime_missing";
  if (disallowed) return disallowed;
  const untrusted = distrustOf(cargo, island);
  if (untrusted !== null) return untrusted;
  if (lacksFeature(cargo, island.features)) return "feature_missing";
  if (cargo.requiredRamBytes > island.ramBytes) return "too_little_ram";
  if (cargo.requiredVramBytes > island.vramBytes) return "too_little_vram";
  if (island.noSpaceFor?.includes(cargo.slug) === true) return "too_little_disk";
  if (island.draining) return "draining";
  return true;
}

/** Returns why the owner does not get the job; null if it may. Its own jobs, and readings of audits, name the owner. */
function distrustOf(cargo: CargoNeeds, { accountId }: IslandOffer): "not_proven" | "owner_refused" | null {
  const { onlyIslandsOf, features, isProvenOwner, refusedOwners } = cargo;
  if (features?.includes(PROVEN_FEATURE) === true && isProvenOwner?.(accountId) !== true) return "not_proven";
  return onlyIslandsOf === null && refusedOwners?.has(accountId) === true ? "owner_refused" : null;
}

/** The feature of trust is never the Island's own, so an Island cannot claim it. */
function lacksFeature({ features }: CargoNeeds, has: readonly string[] = []): boolean {
  return features?.some((name) => name !== PROVEN_FEATURE && !has.includes(name)) === true;
}

/** Returns the model with which an engine of the host runs the Cargo; undefined: the Island's own runtime runs it. */
export function engineModelFor(
  cargo: Parameters<typeof isServedBy>[0],
  { engineModels = [] }: Pick<SchedulerIsland, "engineModels">,
): EngineModelReport | undefined {
  return engineModels.find((served) => isServedBy(cargo, served));
}

/** Returns the features that apply to jobs of the Cargo on the Island. */
export function featuresFor(
  cargo: Parameters<typeof engineModelFor>[0],
  island: Pick<SchedulerIsland, "features" | "engineModels">,
): readonly string[] {
  return engineModelFor(cargo, island)?.features ?? island.features ?? [];
}

/** The model is in the engine's memory already, so memory and disk of the Island do not matter. */
function fitsEngine(cargo: CargoNeeds, island: IslandOffer, served: EngineModelReport): true | Misfit {
  const onEngine = { ...cargo, runtimeType: "engine" as const };
  const disallowed = island.policy && disallowedBy(island.policy, onEngine, cargo.privateTo === undefined);
  if (disallowed) return disallowed;
  const untrusted = distrustOf(cargo, island);
  if (untrusted !== null) return untrusted;
  if (lacksFeature(cargo, served.features)) return "feature_missing";
  return island.draining || served.slots === 0 ? "draining" : true;
}
