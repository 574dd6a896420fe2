import { formatBytes } from "../../shared/format-bytes.ts";
import { describeDisallowed, DISALLOWED, type Disallowed } from "../../shared/owner-policy.ts";
import { PROVEN_FEATURE } from "../credits/trust.ts";
import type { IslandFitCounts } from "./cargo-islands.ts";
import { type Misfit, MISFITS, type ScheduledCargo } from "./fit.ts";
import type { BreakerFailure } from "./circuit-breaker.ts";
import type { WorkKind } from "./events.ts";

export const WAIT_CAUSES = [
  "own_islands_only",
  "no_island_online",
  "no_island_offers_runtime",
  "no_island_fits",
  "all_busy",
  "all_refused",
  "all_failing",
  "model_downloading",
] as const;

export interface Waiting {
  readonly reason: (typeof WAIT_CAUSES)[number];
  /** 1-based position among the waiting jobs of the Cargo and class, in the order in which they would start now. */
  readonly position: number;
  readonly message: string;
  /** Download progress of the model, 0 to 100; absent when unknown. */
  readonly percent?: number;
}

export type Cause = Omit<Waiting, "position">;
/** Reasons why an Island that may run the Cargo does not fit. */
type FitFailure = Exclude<Misfit, "not_own" | "runtime_missing" | Disallowed>;

const UNTIL_APPROVED = "only your own Islands run it until it is approved";
/** An earlier definition: the job keeps the private definition that it was accepted for, although another was approved. */
const OWN_ONLY =
  'only your own Islands run it, because its trust is "own" or it was submitted for an earlier definition of the Cargo';
const TRUST_PROVEN = 'the job\'s trust "proven"';
/** The trust of a job has three sources. */
const LOWER_TRUST = 'Wait until an owner is proven, or send trust "any" if the Cargo allows it';

/** Explains the wait for an unknown Cargo. `no_island_fits` is the closest reason that clients know. */
export function explainUnknownCargo(slug: string): Cause {
  return { reason: "no_island_fits", message: `the catalog has no Cargo ${slug} now` };
}

/**
 * Explains why a job waits, given that no Island that it may use has a free slot.
 * @param avoided Number of fitting Islands that failed this job and have no open circuit breaker.
 */
export function explainWait(cargo: ScheduledCargo, fitCounts: IslandFitCounts, avoided: number): Cause {
  const own = fitCounts.online - fitCounts.misfits.not_own;
  if (cargo.onlyIslandsOf === null) return explainByOnlineIslands(cargo, fitCounts, own, avoided);
  const ownOnly = cargo.privateTo === undefined ? OWN_ONLY : UNTIL_APPROVED;
  if (own === 0) return { reason: "own_islands_only", message: `${ownOnly}, and none of them is online` };
  const cause = explainByOnlineIslands(cargo, fitCounts, own, avoided);
  return { ...cause, message: `${cause.message}; ${ownOnly}` };
}

/** Explains that a job waits although an Island is free. */
export function explainHold(ms: number): Cause {
  const seconds = Math.max(1, Math.ceil(ms / 1_000));
  const message = `the job waits at most ${seconds} s for a busy Island that should finish it much sooner than the free ones`;
  return { reason: "all_busy", message };
}

function explainByOnlineIslands(
  cargo: ScheduledCargo,
  fitCounts: IslandFitCounts,
  online: number,
  avoided: number,
): Cause {
  if (online === 0) return { reason: "no_island_online", message: "no Island is online" };
  const refusing = DISALLOWED.filter((what) => fitCounts.misfits[what] > 0);
  const allowing = refusing.reduce((rest, what) => rest - fitCounts.misfits[what], online);
  const offering = allowing - fitCounts.misfits.runtime_missing;
  if (fitCounts.fitting === 0 && refusing.length > 0) {
    const owners = `Islands' owners do not allow ${refusing.map((what) => describeDisallowed(what, cargo)).join(", or ")}`;
    if (allowing === 0) return { reason: "no_island_fits", message: owners };
    const cause = explainByAllowingIslands(cargo, fitCounts, offering, avoided);
    return { ...cause, message: `${cause.message}; other ${owners}` };
  }
  return explainByAllowingIslands(cargo, fitCounts, offering, avoided);
}

/**
 * Explains the wait by the Islands whose owners allow the Cargo.
 * @param offering Number of online Islands that have the runtime and whose owners allow the Cargo.
 */
function explainByAllowingIslands(
  cargo: ScheduledCargo,
  fitCounts: IslandFitCounts,
  offering: number,
  avoided: number,
): Cause {
  if (offering === 0) {
    return { reason: "no_island_offers_runtime", message: `no online Island offers ${cargo.runtimeType}` };
  }
  if (fitCounts.fitting === 0)
    return { reason: "no_island_fits", message: describeMisfits(cargo, fitCounts, offering) };
  const { fitting, openBreakers } = fitCounts;
  if (openBreakers.length === fitting) return explainBreakers(openBreakers);
  if (fitCounts.withModel === 0 && fitCounts.downloads.length > 0) {
    return explainDownloads(fitCounts.downloads);
  }
  const serving = Math.max(1, fitting - openBreakers.length - avoided);
  const busy = serving === 1 ? "1 Island fits, but it is busy" : `${serving} Islands fit, but all are busy`;
  const unproven = fitCounts.misfits.not_proven;
  const others = [
    ...(unproven === 0 ? [] : [`${TRUST_PROVEN} excludes ${islands(unproven)} of other owners`]),
    ...(avoided === 0 ? [] : [`${islands(avoided)} failed this job`]),
    ...(openBreakers.length === 0
      ? []
      : [`${islands(openBreakers.length)} recently refused or failed jobs (${describeCodes(openBreakers)})`]),
  ];
  return { reason: "all_busy", message: [busy, ...others].join("; ") };
}

/** Explains that every fitting Island recently refused or failed jobs of the Cargo. */
function explainBreakers(failures: readonly BreakerFailure[]): Cause {
  const isRefused = failures.every(({ cause }) => cause === "refused");
  const [reason, verb] = isRefused ? (["all_refused", "refused"] as const) : (["all_failing", "failed"] as const);
  const isOne = failures.length === 1;
  const count = isOne ? "1 Island fits, but it" : `${failures.length} Islands fit, but all`;
  const retry = isOne ? "it is tried again after a growing delay" : "they are tried again after a growing delay";
  return { reason, message: `${count} recently ${verb} jobs (${describeCodes(failures)}); ${retry}` };
}

/** Returns text such as "shutting_down 2, out_of_memory 1". */
function describeCodes(failures: readonly BreakerFailure[]): string {
  const counts = new Map<string, number>();
  for (const { code } of failures) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([code, count]) => (count === 1 ? code : `${code} ${count}`)).join(", ");
}

/**
 * Returns a message such as "model is downloading on 1 Island (41 %)", with the highest percentage.
 * @param fractions Progress of each Island that downloads, 0 to 1 or null when unknown; at least one.
 */
export function explainDownloads(fractions: readonly (number | null)[]): Cause & { reason: "model_downloading" } {
  const reason = "model_downloading";
  const message = `model is downloading on ${islands(fractions.length)}`;
  const known = fractions.filter((fraction) => fraction !== null);
  if (known.length === 0) return { reason, message };
  const percent = Math.floor(100 * Math.max(...known));
  return { reason, message: `${message} (${percent} %)`, percent };
}

function describeMisfits(cargo: ScheduledCargo, fitCounts: IslandFitCounts, offering: number): string {
  const head = `${islands(offering)} ${offering === 1 ? "offers" : "offer"} ${cargo.runtimeType}`;
  const failures = MISFITS.filter(isFitFailure);
  const found = failures.filter((misfit) => fitCounts.misfits[misfit] > 0);
  const only = found.length === 1 ? found[0] : undefined;
  const advice = fitCounts.misfits.not_proven > 0 ? `. ${LOWER_TRUST}` : "";
  if (only !== undefined) return `${head}, but ${describeOnlyMisfit(only, cargo, offering)}${advice}`;
  const parts = found.map(
    (misfit) => `${fitCounts.misfits[misfit]} ${describeFitFailure(misfit, cargo, fitCounts.misfits[misfit])}`,
  );
  return `${head}, but none fits: ${parts.join(", ")}${advice}`;
}

function describeOnlyMisfit(misfit: FitFailure, cargo: ScheduledCargo, count: number): string {
  if (count === 1) return `it ${describeFitFailure(misfit, cargo, 1)}`;
  if (misfit === "owner_refused") return "all must be audited first";
  return misfit === "draining" ? "none takes new jobs now" : `none has ${needOf(misfit, cargo)}`;
}

/** Returns the verb phrase that follows the number of Islands. */
function describeFitFailure(misfit: FitFailure, cargo: ScheduledCargo, count: number): string {
  if (misfit === "draining") return count === 1 ? "takes no new jobs now" : "take no new jobs now";
  if (misfit === "owner_refused") return "must be audited first";
  return `${count === 1 ? "lacks" : "lack"} ${needOf(misfit, cargo)}`;
}

function needOf(misfit: Exclude<FitFailure, "draining" | "owner_refused">, cargo: ScheduledCargo): string {
  switch (misfit) {
    case "not_proven":
      return `a proven owner, which ${TRUST_PROVEN} demands`;
    case "feature_missing":
      return `${describeFeatures(cargo)}, which needs a later version of the agent`;
    case "too_little_ram":
      return `${formatBytes(cargo.requiredRamBytes)} of RAM`;
    case "too_little_vram":
      return `${formatBytes(cargo.requiredVramBytes)} of VRAM`;
    case "too_little_disk":
      return "disk space for its model or image";
    default:
      return misfit satisfies never;
  }
}

/** Returns text such as "the feature chat.tools". */
function describeFeatures({ features = [] }: ScheduledCargo): string {
  const names = features.filter((name) => name !== PROVEN_FEATURE);
  return `the ${names.length === 1 ? "feature" : "features"} ${names.join(" and ")}`;
}

function isFitFailure(misfit: Misfit): misfit is FitFailure {
  return misfit !== "not_own" && misfit !== "runtime_missing" && !DISALLOWED.some((what) => what === misfit);
}

function islands(count: number): string {
  return count === 1 ? "1 Island" : `${count} Islands`;
}

/** The latest reports of other coordinators about a kind of work. */
export interface Elsewhere {
  readonly peers: number;
  /** Number of other coordinators with Islands that run the work. */
  readonly running: number;
  readonly slots: number;
  /** Number of free slots at those coordinators, for any work. */
  readonly free: number;
}

/** Returns the reports about a kind of work; null without other coordinators. */
export type AskElsewhere = (kind: WorkKind) => Elsewhere | null;

/** Reasons that concern one coordinator. They do not apply if another coordinator has Islands that run the job. */
const LOCAL_REASONS: readonly Waiting["reason"][] = [
  "own_islands_only",
  "no_island_online",
  "no_island_offers_runtime",
  "no_island_fits",
  "all_refused",
  "all_failing",
];

/** Returns the reason, or `all_busy` if the reason does not apply because of another coordinator's Islands. */
export function reasonElsewhere(reason: Waiting["reason"], others: Elsewhere | null): Waiting["reason"] {
  return others !== null && others.running > 0 && LOCAL_REASONS.includes(reason) ? "all_busy" : reason;
}

/** Adds the reports of other coordinators to the explanation of a job's own coordinator. */
export function explainElsewhere(waiting: Waiting, others: Elsewhere): Waiting {
  const { peers, running, slots, free } = others;
  if (peers === 0) return waiting;
  const here = `at the job's coordinator: ${waiting.message}`;
  if (running === 0) {
    return { ...waiting, message: `${here}. No other coordinator is known to have an Island for it` };
  }
  const capacity = slots === 1 ? "1 slot" : `${slots} slots`;
  const busy = slots === 1 ? "it is busy" : "all are busy";
  const state = free === 0 ? busy : "a coordinator with free slots may take it";
  const reason = reasonElsewhere(waiting.reason, others);
  return { ...waiting, reason, message: `${here}. Elsewhere in the network, ${capacity} can run the job; ${state}` };
}
