import { noteRun, type CargoTraffic } from "./cargo-traffic.ts";
import type { RunTokens } from "./events.ts";
import { rttOf, uncrowded } from "./expected-cost.ts";
import type { HardwareSpeeds } from "./hardware-speeds.ts";
import type { OnlineIsland, Run } from "./online-island.ts";
import type { PromptCaches } from "./prompt-caches.ts";
import type { SpeedCurve } from "./speed-curve.ts";

/** Minimum number of output tokens from which the time between two tokens is measured. */
const MIN_TOKENS = 8;
/** Part of the prompt that may be missing in the cache, compared with the expectation, in a measurement. */
const MAX_CACHE_ERROR = 0.25;
/** Slot time that a token is charged in the fair shares, whatever the speed of the Island. */
const CHARGE_MS = { prompt: 1, output: 20 };

/**
 * Learns from a run that succeeded. Returns true if the assumed speed of other Islands changed with it. All times are the coordinator's: an Island's reports only correct its cache.
 */
export function learnFrom(
  run: Run,
  tokens: RunTokens | null,
  island: OnlineIsland,
  curve: SpeedCurve,
  { traffic, caches, speeds }: { traffic: CargoTraffic; caches: PromptCaches; speeds: HardwareSpeeds },
  nowMs: number,
): boolean {
  const { work, assumed, firstOutput, slug } = run;
  const output = tokens?.output ?? 0;
  // A job that only reads says nothing about the output of others.
  if (tokens === null || output > 0) noteRun(traffic, work.input, output);
  const hasExpectedCache = tokens === null || correctCache(run, tokens, island, caches);
  if (work.output > 0) {
    if (firstOutput === null || output === 0) return false;
    if (hasExpectedCache) addReading(run, firstOutput.atMs - run.beganMs - rttOf(island.info), curve);
    const writtenMs = nowMs - firstOutput.atMs;
    if (output >= MIN_TOKENS && writtenMs > 0) {
      const runningJobs = Math.max(1, (island.jobMs(nowMs) - firstOutput.jobMs) / writtenMs);
      curve.addWrite(runningJobs, writtenMs / (output - 1), assumed);
    }
  } else {
    const runMs = nowMs - run.beganMs;
    const otherJobs = runMs === 0 ? 0 : Math.max(0, (island.jobMs(nowMs) - run.beganJobMs) / runMs - 1);
    addReading(run, uncrowded(runMs - rttOf(island.info), otherJobs), curve);
  }
  const { hardwareClass } = island.info;
  if (hardwareClass === undefined) return false;
  const isBetterKnown = speeds.note(hardwareClass, slug, island.id, curve.measured(assumed));
  curve.slowness = speeds.slownessOf(hardwareClass, slug, island.id);
  return isBetterKnown;
}

/** Returns the slot time that a run is charged: by its tokens, so that an account does not pay for a slow Island. */
export function chargeOf({ prompt, cached, output }: RunTokens): number {
  return CHARGE_MS.prompt * Math.max(0, prompt - (cached ?? 0)) + CHARGE_MS.output * output;
}

/** Splits the time until the first output into the load of the model and the reading of the prompt. */
function addReading({ readInput, loadMs, beganLoad, assumed }: Run, ms: number, curve: SpeedCurve): void {
  if (loadMs > 0 && !beganLoad) return;
  if (loadMs === 0) return curve.addRead(readInput, ms, assumed);
  if (!curve.isMeasured) return curve.addRead(readInput, ms - Math.min(loadMs, ms / 2), assumed);
  const readMs = curve.readMs(readInput, assumed);
  curve.addLoad(Math.max(0, ms - readMs));
  // Otherwise an Island that never reports the Cargo as loaded would keep the time of its first run.
  return ms < readMs ? curve.addRead(readInput, ms, assumed) : undefined;
}

/** Corrects the Island's assumed cache. Returns false if its reading did not begin where it was expected to begin. */
function correctCache({ work }: Run, tokens: RunTokens, { id }: OnlineIsland, caches: PromptCaches): boolean {
  // Without a report, it is unknown whether the Island had what it was expected to have.
  if (tokens.cached === null || tokens.prompt === 0) return work.cached === 0;
  // The work counts estimated tokens, the report those of the model.
  const reported = (tokens.cached / tokens.prompt) * work.input;
  caches.correct(id, work.cached, reported);
  // Claiming more than expected must not hide a slow reading.
  return work.cached - reported <= MAX_CACHE_ERROR * work.input;
}
