import { isDeepStrictEqual } from "node:util";
import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import { Backoff } from "../../shared/async/backoff.ts";
import type { Clock } from "../../shared/clock.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import type { Logger } from "../../shared/logger.ts";
import type { CargoFiles } from "../artifacts/cargo-files.ts";
import { DiskFullError } from "../disk/disk-full-error.ts";
import type { Recommendation } from "./recommendations.ts";

export interface PreloaderDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly files: Pick<CargoFiles, "bytesOnDisk" | "preload" | "makeRoom">;
  /** Runtimes of this Island. Cargos of other types are not preloaded. */
  readonly runtimes: Pick<ReadonlySet<RuntimeType>, "has">;
  /** The coordinator's recommendations for this Island, best first. */
  readonly recommend: (signal: AbortSignal) => Promise<readonly Recommendation[]>;
  /** Asks the coordinator for Cargos, which arrive at `offer`; false when there is no session. */
  readonly want: (slugs: readonly string[]) => boolean;
  /** Why the Island takes no new jobs, and therefore preloads nothing; null while it does. */
  readonly closedBecause: () => string | null;
  /** The state in reports has changed. */
  readonly onChange: () => void;
  /** 0 (included) to 1 (excluded); spreads the requests of many Islands. */
  readonly random: () => number;
}

/** A Cargo that the coordinator recommended or sent unasked, and its state. */
export interface PreloadItem {
  readonly slug: string;
  /** Why it should be on disk. */
  readonly reason: string;
  readonly state: "asked for" | "waits" | "fetching" | "on disk" | "does not fit" | "cannot run here" | "failed";
  /** Details of the state for the owner; may be empty. */
  readonly detail: string;
}

export interface PreloadStatus {
  /** Unix time in ms; null before the first answer. */
  readonly askedAtMs: number | null;
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

/** Source: spec §4, recommendations rule 3. */
const INTERVAL_MS = 15 * 60_000;
/** Longest random delay after the interval. */
const SPREAD_MS = 60_000;
/** Wait before the first retry of a failed request; it doubles each time. */
const FIRST_RETRY_MS = 60_000;
/** Unasked Cargos that are remembered; finished ones are forgotten first. */
const MAX_UNASKED = 100;
const SENT_BY_COORDINATOR = "the coordinator sent it";

/**
 * Downloads recommended Cargos before jobs need them, while the Island is open: what has been asked for in the last hour, and the default
 * Cargo; the best that fit the disk budget, one at a time.
 */
export class Preloader {
  readonly #deps: PreloaderDeps;
  readonly #backoff: Backoff;
  /** By slug, best first. */
  #recommended = new Map<string, Candidate>();
  /** Cargos that the coordinator sent unasked, by slug, in order of arrival. */
  readonly #unasked = new Map<string, Candidate>();
  #askedAtMs: number | null = null;
  #problem: string | null = null;
  #work: Promise<void> | null = null;
  /** Ends the wait before the next request. */
  #askNow = new AbortController();
  /** Ends the present download. */
  #stopDownload = new AbortController();

  constructor(deps: PreloaderDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff({ firstMs: FIRST_RETRY_MS, maxMs: INTERVAL_MS, random: deps.random });
  }

  status(): PreloadStatus {
    const items = [...this.#candidates()].map(({ slug, reason, state, detail }) => ({ slug, reason, state, detail }));
    const closed = this.#deps.closedBecause();
    const problem = closed === null ? this.#problem : `nothing is downloaded while the Island is ${closed}`;
    return { askedAtMs: this.#askedAtMs, problem, items };
  }

  /** Asks now, every 15 minutes and when the Island opens, until aborted. Resolves when all downloads have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, closedBecause } = this.#deps;
    while (!signal.aborted) {
      this.#askNow = new AbortController();
      let waitMs = INTERVAL_MS + random() * SPREAD_MS;
      if (closedBecause() === null) {
        if (await this.#ask(signal)) this.#backoff.reset();
        else waitMs = this.#backoff.nextMs();
        this.#begin(signal);
      }
      await clock.sleep(waitMs, AbortSignal.any([signal, this.#askNow.signal])).catch(() => undefined);
    }
    await this.#work;
  }

  /** Asks at once when the Island has opened; stops the download when it has closed. */
  onAvailability(): void {
    if (this.#deps.closedBecause() === null) this.#askNow.abort();
    else this.#stopDownload.abort(new Error("the Island takes no jobs now"));
  }

  /** Takes a Cargo that the coordinator sent, asked or unasked. */
  offer(cargo: CargoManifest, signal: AbortSignal): void {
    const candidate =
      this.#recommended.get(cargo.slug) ?? this.#unasked.get(cargo.slug) ?? this.#addUnasked(cargo.slug);
    if (candidate === null) return;
    const isUnderWay = candidate.state === "fetching" && isDeepStrictEqual(candidate.cargo, cargo);
    if (isUnderWay) return;
    candidate.cargo = cargo;
    candidate.state = "waits";
    candidate.detail = "";
    this.#begin(signal);
  }

  /** Recommended Cargos first, then unasked ones. */
  *#candidates(): Generator<Candidate> {
    yield* this.#recommended.values();
    for (const candidate of this.#unasked.values()) if (!this.#recommended.has(candidate.slug)) yield candidate;
  }

  #addUnasked(slug: string): Candidate | null {
    if (this.#unasked.size >= MAX_UNASKED) {
      const done = [...this.#unasked.values()].find(({ state }) => state !== "waits" && state !== "fetching");
      if (done === undefined) return null;
      this.#unasked.delete(done.slug);
    }
    const candidate: Candidate = {
      slug,
      reason: SENT_BY_COORDINATOR,
      mayClear: true,
      cargo: null,
      state: "waits",
      detail: "",
    };
    this.#unasked.set(slug, candidate);
    return candidate;
  }

  /** @returns false when the request must be repeated soon. */
  async #ask(signal: AbortSignal): Promise<boolean> {
    const { recommend, want, clock, closedBecause } = this.#deps;
    try {
      const recommended = (await recommend(signal)).filter(
        ({ demandScore, isDefault }) => demandScore > 0 || isDefault,
      );
      this.#recommended = new Map(recommended.map((one) => [one.slug, this.#candidateOf(one)]));
      this.#askedAtMs = clock.now();
      this.#problem = null;
      if (recommended.length === 0 || closedBecause() !== null) return true;
      if (want(recommended.map(({ slug }) => slug))) return true;
      this.#problem = "there was no session with the coordinator";
    } catch (error) {
      if (!signal.aborted) this.#problem = messageOf(error);
    }
    return false;
  }

  /** A Cargo that is being downloaded keeps its state and gets the new reason. */
  #candidateOf(one: Recommendation): Candidate {
    const waiting = one.queued === 1 ? "1 job waits" : `${one.queued} jobs wait`;
    const demand = one.demandScore > 0 ? `${waiting}, demand ${one.demandScore}` : "chats without a model use it";
    const reason = `${demand}, earns ${one.earningsPerJob} credits a job`;
    const mayClear = one.demandScore > 0;
    const known = this.#recommended.get(one.slug) ?? this.#unasked.get(one.slug);
    if (known?.state === "fetching") return Object.assign(known, { reason, mayClear });
    return { slug: one.slug, reason, mayClear, cargo: null, state: "asked for", detail: "" };
  }

  #begin(signal: AbortSignal): void {
    this.#work ??= this.#fetchAll(signal);
  }

  /** One at a time, best first, including Cargos that arrive meanwhile. */
  async #fetchAll(signal: AbortSignal): Promise<void> {
    // The frames of one answer arrive together: wait for all, then begin with the best, not with the first.
    await Promise.resolve();
    const mayGoOn = (): boolean => !signal.aborted && this.#deps.closedBecause() === null;
    for (let next = this.#next(); next !== undefined && mayGoOn(); next = this.#next()) {
      await this.#fetch(next.candidate, next.cargo, signal);
      this.#deps.onChange();
    }
    this.#work = null;
  }

  #next(): { candidate: Candidate; cargo: CargoManifest } | undefined {
    for (const candidate of this.#candidates()) {
      if (candidate.state === "waits" && candidate.cargo !== null) return { candidate, cargo: candidate.cargo };
    }
    return undefined;
  }

  async #fetch(candidate: Candidate, cargo: CargoManifest, signal: AbortSignal): Promise<void> {
    this.#stopDownload = new AbortController();
    const ending = AbortSignal.any([signal, this.#stopDownload.signal]);
    candidate.state = "fetching";
    let outcome: Pick<PreloadItem, "state" | "detail">;
    try {
      outcome = await this.#bring(cargo, candidate.mayClear, ending);
    } catch (error) {
      if (ending.aborted) outcome = { state: "waits", detail: messageOf(ending.reason) };
      else outcome = this.#failed(cargo, error);
    }
    // A new version of the Cargo may have arrived meanwhile; it waits for its own turn.
    if (candidate.cargo === cargo) Object.assign(candidate, outcome);
  }

  async #bring(
    cargo: CargoManifest,
    mayClear: boolean,
    signal: AbortSignal,
  ): Promise<Pick<PreloadItem, "state" | "detail">> {
    const { files, runtimes, onChange } = this.#deps;
    if (!runtimes.has(cargo.runtimeType)) {
      return { state: "cannot run here", detail: `this Island has no ${cargo.runtimeType} runtime` };
    }
    if (files.bytesOnDisk(cargo) === null) {
      const missing = await files.makeRoom(cargo, (slug) => mayClear && !this.#isWanted(slug));
      if (missing > 0) {
        const detail = `${formatBytes(missing)} more than the disk budget has free beside used and recommended Cargos`;
        return { state: "does not fit", detail };
      }
      await files.preload(cargo, signal, onChange);
    }
    return { state: "on disk", detail: "" };
  }

  #isWanted(slug: string): boolean {
    return this.#recommended.has(slug) || this.#unasked.has(slug);
  }

  #failed({ slug }: CargoManifest, error: unknown): Pick<PreloadItem, "state" | "detail"> {
    const detail = messageOf(error);
    if (error instanceof DiskFullError) return { state: "does not fit", detail };
    this.#deps.log.warn({ cargo: slug, reason: detail }, "Preload failed");
    return { state: "failed", detail };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
