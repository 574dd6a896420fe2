import { isDeepStrictEqual } from "node:util";
import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import { Backoff } from "../../shared/async/backoff.ts";
import type { Clock } from "../../shared/clock.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import type { Logger } from "../../shared/logger.ts";
import type { CargoFiles } from "../artifacts/cargo-files.ts";
import { DiskFullError } from "../disk/disk-full-error.ts";
import type { Engines } from "../runtimes/engine/engines.ts";
import type { Recommendation } from "./recommendations.ts";

/** A Cargo that the coordinator recommended or sent without a request, and its state. */
interface PreloadItem {
  readonly slug: string;
  /** Reason why it should be on disk. */
  readonly reason: string;
  readonly state: "requested" | "waiting" | "downloading" | "on disk" | "no disk space" | "cannot run here" | "failed";
  /** Details of the state for the owner, possibly empty. */
  readonly detail: string;
}

export interface PreloadStatus {
  /** Unix time of the most recent response in ms; null before the first one. */
  readonly receivedAtMs: number | null;
  readonly problem: string | null;
  readonly items: readonly PreloadItem[];
}

interface Candidate {
  readonly slug: string;
  reason: string;
  /** Whether unused earlier preloads may be deleted for it. */
  mayClear: boolean;
  cargo: CargoManifest | null;
  state: PreloadItem["state"];
  detail: string;
}

/** Interval of requests. Source: spec §4, recommendations rule 3. */
const INTERVAL_MS = 15 * 60_000;
/** Maximum random delay after the interval. */
const MAX_JITTER_MS = 60_000;
/** Wait before the first retry of a failed request; it doubles each time. */
const FIRST_RETRY_MS = 60_000;
/** Maximum number of Cargos kept that were sent without a request; finished ones are dropped first. */
const MAX_UNREQUESTED = 100;
const SENT_BY_COORDINATOR = "the coordinator sent it";

/**
 * Downloads recommended Cargos before jobs need them, while the Island is open: those requested in the last hour, and
 * the default Cargo. It takes the best that fit the disk budget, one at a time.
 */
export function openPreloader({
  clock,
  log,
  files,
  runtimes,
  engines,
  recommend,
  want,
  closedBecause,
  onChange,
  random,
}: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly files: Pick<CargoFiles, "bytesOnDisk" | "preload" | "freeSpace">;
  /** Runtimes of this Island. Cargos of other types are not preloaded. */
  readonly runtimes: Pick<ReadonlySet<RuntimeType>, "has">;
  /** Engines of the host. Models that they serve are not downloaded. */
  readonly engines: Pick<Engines, "serves">;
  /** Returns the coordinator's recommendations for this Island, best first. */
  readonly recommend: (signal: AbortSignal) => Promise<readonly Recommendation[]>;
  /** Requests Cargos from the coordinator, which arrive at `receive`; false without a session. */
  readonly want: (slugs: readonly string[]) => boolean;
  /** Returns why the Island accepts no new jobs, and therefore preloads nothing; null while it does. */
  readonly closedBecause: () => string | null;
  /** Called when the state in reports has changed. */
  readonly onChange: () => void;
  /** Returns 0 (inclusive) to 1 (exclusive); spreads the requests of many Islands. */
  readonly random: () => number;
}) {
  /** Recommended Cargos by slug, best first. */
  let wanted = new Map<string, Candidate>();
  /** Cargos that the coordinator sent without a request, by slug, in order of arrival. */
  const unrequested = new Map<string, Candidate>();
  let receivedAtMs: number | null = null;
  let lastProblem: string | null = null;
  let work: Promise<void> | null = null;
  /** Ends the wait before the next request. */
  let requestNow = new AbortController();
  let stopDownload = new AbortController();
  const backoff = new Backoff({ firstMs: FIRST_RETRY_MS, maxMs: INTERVAL_MS, random: random });

  function status(): PreloadStatus {
    const items = [...candidates()].map(({ slug, reason, state, detail }) => ({ slug, reason, state, detail }));
    const closed = closedBecause();
    const problem = closed === null ? lastProblem : `no downloads while the Island is ${closed}`;
    return { receivedAtMs, problem, items };
  }

  /** Requests recommendations now, every 15 min and when the Island opens. Resolves after an abort. */
  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      requestNow = new AbortController();
      let waitMs = INTERVAL_MS + random() * MAX_JITTER_MS;
      if (closedBecause() === null) {
        if (await ask(signal)) backoff.reset();
        else waitMs = backoff.nextMs();
        begin(signal);
      }
      await clock.sleep(waitMs, AbortSignal.any([signal, requestNow.signal])).catch(() => undefined);
    }
    await work;
  }

  /** Requests recommendations when the Island has opened; stops the download when it has closed. */
  function onAvailability(): void {
    if (closedBecause() === null) requestNow.abort();
    else stopDownload.abort(new Error("the Island accepts no jobs now"));
  }

  /** Accepts a Cargo from the coordinator, requested or not. */
  function receive(cargo: CargoManifest, signal: AbortSignal): void {
    const candidate = wanted.get(cargo.slug) ?? unrequested.get(cargo.slug) ?? addUnrequested(cargo.slug);
    if (candidate === null) return;
    const isInFlight = candidate.state === "downloading" && isDeepStrictEqual(candidate.cargo, cargo);
    if (isInFlight) return;
    candidate.cargo = cargo;
    candidate.state = "waiting";
    candidate.detail = "";
    begin(signal);
  }

  /** Yields recommended Cargos first, then those sent without a request. */
  function* candidates(): Generator<Candidate> {
    yield* wanted.values();
    for (const candidate of unrequested.values()) if (!wanted.has(candidate.slug)) yield candidate;
  }

  function addUnrequested(slug: string): Candidate | null {
    if (unrequested.size >= MAX_UNREQUESTED) {
      const done = [...unrequested.values()].find(({ state }) => state !== "waiting" && state !== "downloading");
      if (done === undefined) return null;
      unrequested.delete(done.slug);
    }
    const candidate: Candidate = {
      slug,
      reason: SENT_BY_COORDINATOR,
      mayClear: true,
      cargo: null,
      state: "waiting",
      detail: "",
    };
    unrequested.set(slug, candidate);
    return candidate;
  }

  /** Requests recommendations. @returns false when the request must be repeated soon. */
  async function ask(signal: AbortSignal): Promise<boolean> {
    try {
      const recommended = (await recommend(signal)).filter(
        ({ demandScore, isDefault }) => demandScore > 0 || isDefault,
      );
      wanted = new Map(recommended.map((one) => [one.slug, candidateOf(one)]));
      receivedAtMs = clock.now();
      lastProblem = null;
      if (recommended.length === 0 || closedBecause() !== null) return true;
      if (want(recommended.map(({ slug }) => slug))) return true;
      lastProblem = "no session with the coordinator";
    } catch (error) {
      if (!signal.aborted) lastProblem = messageOf(error);
    }
    return false;
  }

  /** Returns the candidate of a recommendation. A running download keeps its state and gets the new reason. */
  function candidateOf(one: Recommendation): Candidate {
    const waiting = one.queued === 1 ? "1 job waits" : `${one.queued} jobs wait`;
    const demand = one.demandScore > 0 ? `${waiting}, demand ${one.demandScore}` : "chats without a model use it";
    const reason = `${demand}, earns ${one.earningsPerJob} credits per job`;
    const mayClear = one.demandScore > 0;
    const known = wanted.get(one.slug) ?? unrequested.get(one.slug);
    if (known?.state === "downloading") return Object.assign(known, { reason, mayClear });
    return { slug: one.slug, reason, mayClear, cargo: null, state: "requested", detail: "" };
  }

  function begin(signal: AbortSignal): void {
    work ??= fetchAll(signal);
  }

  /** Downloads the candidates one at a time, best first, including Cargos that arrive in the meantime. */
  async function fetchAll(signal: AbortSignal): Promise<void> {
    // The frames of one reply arrive together. Wait for all of them, and start with the best Cargo instead of the first.
    await Promise.resolve();
    const mayContinue = (): boolean => !signal.aborted && closedBecause() === null;
    for (let next = nextToFetch(); next !== undefined && mayContinue(); next = nextToFetch()) {
      await fetch(next.candidate, next.cargo, signal);
      onChange();
    }
    work = null;
  }

  function nextToFetch(): { candidate: Candidate; cargo: CargoManifest } | undefined {
    for (const candidate of candidates()) {
      if (candidate.state === "waiting" && candidate.cargo !== null) return { candidate, cargo: candidate.cargo };
    }
    return undefined;
  }

  async function fetch(candidate: Candidate, cargo: CargoManifest, signal: AbortSignal): Promise<void> {
    stopDownload = new AbortController();
    const ending = AbortSignal.any([signal, stopDownload.signal]);
    candidate.state = "downloading";
    let outcome: Pick<PreloadItem, "state" | "detail">;
    try {
      outcome = await downloadIfSpace(cargo, candidate.mayClear, ending);
    } catch (error) {
      if (ending.aborted) outcome = { state: "waiting", detail: messageOf(ending.reason) };
      else outcome = failureOutcome(cargo, error);
    }
    // A new version of the Cargo that has arrived in the meantime is downloaded afterwards.
    if (candidate.cargo === cargo) Object.assign(candidate, outcome);
  }

  async function downloadIfSpace(
    cargo: CargoManifest,
    mayClear: boolean,
    signal: AbortSignal,
  ): Promise<Pick<PreloadItem, "state" | "detail">> {
    if (engines.serves(cargo)) return { state: "on disk", detail: "an engine of this host serves it" };
    if (!runtimes.has(cargo.runtimeType)) {
      return { state: "cannot run here", detail: `this Island has no ${cargo.runtimeType} runtime` };
    }
    if (files.bytesOnDisk(cargo) === null) {
      const missing = await files.freeSpace(cargo, (slug) => mayClear && !isWanted(slug));
      if (missing > 0) {
        const detail = `needs ${formatBytes(missing)} more; Cargos that stay on disk fill the rest of the disk budget`;
        return { state: "no disk space", detail };
      }
      await files.preload(cargo, signal, onChange);
    }
    return { state: "on disk", detail: "" };
  }

  function isWanted(slug: string): boolean {
    return wanted.has(slug) || unrequested.has(slug);
  }

  function failureOutcome({ slug }: CargoManifest, error: unknown): Pick<PreloadItem, "state" | "detail"> {
    const detail = messageOf(error);
    if (error instanceof DiskFullError) return { state: "no disk space", detail };
    log.warn({ cargo: slug, reason: detail }, "Preload failed");
    return { state: "failed", detail };
  }

  return { status, run, onAvailability, receive };
}

export type Preloader = ReturnType<typeof openPreloader>;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
