import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import type { SchedulerIsland } from "./events.ts";
import { engineModelFor } from "./fit.ts";
import { reliableSuccessRate, type Measure } from "./island-record.ts";

export type ModelAvailability = "loaded" | "on_disk" | "absent";
const AVAILABILITY_DIGIT: Record<ModelAvailability, number> = { loaded: 0, on_disk: 1, absent: 2 };

const SPEED_STEPS = 64;
const TENTHS = 11;
const RTT_STEPS = 16;
const LOAD_RANKS = TENTHS * TENTHS * RTT_STEPS;

/** Assumed speed of an Island without measurements: about reading speed, between fast and slow Islands. */
const UNKNOWN_TOKENS_PER_SECOND = 10;
const UNKNOWN_CPU_LOAD = 0.5;
const UNKNOWN_RTT_MS = 128;

/** Returns where the Island has the Cargo's model or image. A Cargo without model and image counts as on disk. */
export function modelAvailabilityOf(cargo: CargoManifest, island: SchedulerIsland): ModelAvailability {
  if (island.loaded.includes(cargo.slug) || engineModelFor(cargo, island) !== undefined) return "loaded";
  const key = cacheKeyOf(cargo);
  if (key === null || island.cachedModels.includes(key)) return "on_disk";
  return "absent";
}

/** Returns the part of the rank that depends on the Cargo. */
export function meritOf(availability: ModelAvailability, measure: Measure): number {
  const speed = speedDigit(measure.tokensPerSecond ?? UNKNOWN_TOKENS_PER_SECOND);
  return (AVAILABILITY_DIGIT[availability] * SPEED_STEPS + speed) * TENTHS + tenths(1 - reliableSuccessRate(measure));
}

/** Returns the part of the rank that is independent of the Cargo. */
export function loadOf(island: SchedulerIsland, slotsInUse: number): number {
  // The share is rounded up, so that an Island with any job ranks behind an idle one.
  const share = island.slots > 0 ? Math.min(10, Math.ceil((10 * slotsInUse) / island.slots)) : 10;
  return share * TENTHS * RTT_STEPS + hostLoadOf(island);
}

/**
 * Returns true if two reports have the same models and, after rounding, the same load. Lists are compared by identity,
 * because a report that repeats the previous one shares its lists.
 */
export function isSameRank(a: HostReport, b: HostReport): boolean {
  const hasSameModels = a.cachedModels === b.cachedModels && a.loaded === b.loaded && a.downloads === b.downloads;
  const hasSameEngines = a.engineModels === b.engineModels;
  return hasSameModels && hasSameEngines && a.noSpaceFor === b.noSpaceFor && hostLoadOf(a) === hostLoadOf(b);
}

type HostReport = Pick<
  SchedulerIsland,
  "cachedModels" | "loaded" | "downloads" | "noSpaceFor" | "engineModels" | "cpuLoad" | "rttMs"
>;

function hostLoadOf({ cpuLoad, rttMs }: Pick<SchedulerIsland, "cpuLoad" | "rttMs">): number {
  return tenths(cpuLoad ?? UNKNOWN_CPU_LOAD) * RTT_STEPS + rttDigit(rttMs ?? UNKNOWN_RTT_MS);
}

/**
 * Returns the rank of an Island among those that can serve a Cargo, as one whole number; the lowest is chosen first.
 * Its digits, in a mixed base with the most significant first, are: location of the model, speed, success, slots in
 * use, CPU load, round-trip time. Each is rounded to steps, so that a negligible difference leaves the choice to the
 * next digit. See docs/internals/scheduler.md, "Rank".
 */
export function rankOf(merit: number, load: number): number {
  return merit * LOAD_RANKS + load;
}

/** Returns the digit of a speed, 0 for the fastest: two steps for each doubling, from 1/64 token per second. */
function speedDigit(tokensPerSecond: number): number {
  const step = Math.round(2 * Math.log2(tokensPerSecond)) + 12;
  return SPEED_STEPS - 1 - clamp(step, SPEED_STEPS - 1);
}

/** Returns the digit of a round-trip time: one step for each doubling. */
function rttDigit(rttMs: number): number {
  return clamp(Math.round(Math.log2(Math.max(rttMs, 1))), RTT_STEPS - 1);
}

function tenths(fraction: number): number {
  return clamp(Math.round(10 * fraction), TENTHS - 1);
}

function clamp(step: number, max: number): number {
  return Math.min(max, Math.max(0, step));
}
