import { cacheKeyOf } from "../../shared/cargo.ts";
import type { CandidateCost, SchedulerIsland } from "./events.ts";
import { engineModelFor, type KnownCargo } from "./fit.ts";
import type { HardwareSpeeds } from "./hardware-speeds.ts";
import type { AssumedSpeed, SpeedCurve } from "./speed-curve.ts";

/** The expected size of a job on an Island. */
export interface Work {
  /** Prompt tokens; for a Cargo without tokens, bytes of the input. */
  readonly input: number;
  /** Prompt tokens that are in the Island's cache. */
  readonly cached: number;
  /** Output tokens; 0 for a Cargo without tokens. */
  readonly output: number;
}

/** The state of an Island, besides the speed of its Cargo. */
export interface Present {
  /** True if the first job of the Cargo, which measures the Island, still runs. */
  readonly isOnTrial: boolean;
  readonly runningJobs: number;
  /** Input of jobs that were assigned but have no output yet. The Island reads it first. */
  readonly unreadInput: number;
  readonly loadMs: number;
  readonly rttMs: number;
}

export type ModelAvailability = "loaded" | "on_disk" | "absent";

/** Failures count this much: an Island that always fails costs five times as much. Source: Parallax. */
const RISK = 4;
/** An Island that no job has measured gets a second job only if all others cost this much more. */
const ON_TRIAL_RISK = 4;
/** Part by which each running job slows a run of a Cargo without tokens. */
const CROWDING = 0.1;
const UNKNOWN_RTT_MS = 100;
/** Assumed speeds of an unmeasured host: a token takes 100 ms, and ten prompt tokens are read in that time. */
const UNKNOWN_TOKEN_MS = 100;
const TOKENLESS = { read: { base: 1_000, slope: 0.001 }, write: { base: 0, slope: 0 }, isGuess: true };
/** Assumed speeds of a disk and of a network connection, in bytes for each ms, and size of an unknown model. */
const UNKNOWN_DISK_SPEED = 500_000;
const UNKNOWN_DOWNLOAD_SPEED = 5_000;
const UNKNOWN_MODEL_BYTES = 1e9;
/** Maximum ms of a load, so that a wrong size or speed never makes a cost infinite. */
const MAX_LOAD_MS = 24 * 3_600_000;

/**
 * Returns the expected cost of a job on an Island: the ms until it has finished, and the delay that it causes to the
 * jobs that run there, times the risk of a failure. See docs/internals/placement.md
 */
export function expectedCost(
  islandId: string,
  curve: SpeedCurve,
  assumed: AssumedSpeed,
  { input, cached, output }: Work,
  { isOnTrial, runningJobs, unreadInput, loadMs, rttMs }: Present,
): CandidateCost {
  const hasTokens = output > 0;
  const unread = hasTokens ? unreadInput + Math.max(0, input - cached) : input;
  const readMs = curve.readMs(unread, assumed) * (hasTokens ? 1 : 1 + CROWDING * runningJobs);
  const writeMs = hasTokens ? output * curve.writeMs(runningJobs + 1, assumed) : 0;
  const slowdownMs = hasTokens ? output * curve.crowdingMs(assumed) * runningJobs : 0;
  const risk = (1 + RISK * curve.failureRate) * (isOnTrial ? ON_TRIAL_RISK : 1);
  const costMs = (loadMs + readMs + writeMs + rttMs + slowdownMs) * risk;
  return { islandId, costMs, waitMs: 0, loadMs, readMs, writeMs, rttMs, slowdownMs, risk, cachedTokens: cached };
}

/** Returns the ms from a free slot until the job has finished, without its effect on other jobs. */
export function finishMs({ loadMs, readMs, writeMs, rttMs }: CandidateCost): number {
  return loadMs + readMs + writeMs + rttMs;
}

/** Removes the factor by which {@link expectedCost} slows a run without tokens, to compare runs. */
export function uncrowded(runMs: number, runningJobs: number): number {
  return runMs / (1 + CROWDING * runningJobs);
}

export function rttOf({ rttMs }: Pick<SchedulerIsland, "rttMs">): number {
  return rttMs ?? UNKNOWN_RTT_MS;
}

/** Returns true if runs of the Cargo have tokens, and its speed is that of a language model. */
export function hasTokens({ runtimeType, task }: Pick<KnownCargo, "runtimeType" | "task">): boolean {
  return task === undefined && (runtimeType === "llmcpp" || runtimeType === "engine");
}

/** Returns the speed that is assumed before the Island's first run of a Cargo. */
export function assumedSpeed(cargo: KnownCargo, island: SchedulerIsland, speeds: HardwareSpeeds): AssumedSpeed {
  const { id, hardwareClass, modelBytesPerMs } = island;
  const median = hardwareClass === undefined ? undefined : speeds.medianOf(hardwareClass, cargo.slug, id);
  if (median !== undefined) return { ...median, isGuess: false };
  if (!hasTokens(cargo)) return TOKENLESS;
  const size = cargo.model?.sizeBytes ?? null;
  // Writing a token reads the whole model once, so the speed of memory is the limit.
  const tokenMs = size === null || modelBytesPerMs === undefined ? UNKNOWN_TOKEN_MS : size / modelBytesPerMs;
  return {
    read: { base: tokenMs, slope: tokenMs / 10 },
    write: { base: 0.9 * tokenMs, slope: 0.1 * tokenMs },
    isGuess: true,
  };
}

/** Returns where the Island has the Cargo's model or image. A Cargo without model and image counts as on disk. */
export function modelAvailabilityOf(cargo: KnownCargo, island: SchedulerIsland): ModelAvailability {
  if (island.loaded.includes(cargo.slug) || engineModelFor(cargo, island) !== undefined) return "loaded";
  const key = cacheKeyOf(cargo);
  if (key === null || island.cachedModels.includes(key)) return "on_disk";
  return "absent";
}

/** Returns the expected ms until the Cargo's model is in the Island's memory. */
export function expectedLoadMs(cargo: KnownCargo, island: SchedulerIsland, measuredMs: number | null): number {
  const availability = modelAvailabilityOf(cargo, island);
  if (availability === "loaded") return 0;
  const bytes = cargo.model?.sizeBytes ?? UNKNOWN_MODEL_BYTES;
  const needsFile = cargo.model !== null || cargo.container !== undefined;
  const loadMs = measuredMs ?? (needsFile ? bytes / UNKNOWN_DISK_SPEED : 0);
  if (availability === "on_disk") return Math.min(loadMs, MAX_LOAD_MS);
  const fraction = island.downloads.find(({ slug }) => slug === cargo.slug)?.fraction ?? 0;
  const downloadMs = ((1 - fraction) * bytes) / (island.downloadBytesPerMs ?? UNKNOWN_DOWNLOAD_SPEED);
  return Math.min(loadMs + downloadMs, MAX_LOAD_MS);
}
