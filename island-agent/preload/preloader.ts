import type { CargoManifest } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import type { AgentLog } from "../agent-log.ts";
import type { CargoFiles } from "../cargo-files.ts";
import type { Recommendation } from "./recommendations.ts";

export interface PreloaderDeps {
  readonly clock: Clock;
  readonly log: AgentLog;
  readonly files: Pick<CargoFiles, "bytesOnDisk" | "preload" | "budgetBytes">;
  /** What the coordinator would have on this Island's disk, best first. */
  readonly recommend: (signal: AbortSignal) => Promise<readonly Recommendation[]>;
  /** Asks for the Cargos themselves, which come by `offer`; false when there is no session to ask in. */
  readonly want: (slugs: readonly string[]) => boolean;
  /** Why the Island takes no jobs now, and fetches nothing; null while it does. */
  readonly closedBecause: () => string | null;
  /** Something that reports show has changed. */
  readonly onChange: () => void;
  /** 0 (included) to 1 (excluded); spreads the Islands' questions. */
  readonly random: () => number;
}

/** A Cargo that was recommended, or that the coordinator sent by itself, and what became of it. */
export interface PreloadItem {
  readonly slug: string;
  /** Why it should be here. */
  readonly reason: string;
  readonly state: "asked for" | "waits" | "fetching" | "on disk" | "does not fit" | "failed";
  /** More of the state, for the owner; empty when there is no more to say. */
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
  readonly reason: string;
  cargo: CargoManifest | null;
  state: PreloadItem["state"];
  detail: string;
}

/** Source: spec §4, recommendations rule 3. */
const INTERVAL_MS = 15 * 60_000;
/** Most that an Island's question comes later than that. */
const SPREAD_MS = 60_000;
/** Most Cargos that the coordinator may send by itself between two questions. */
const MOST_UNASKED = 100;
const SENT_BY_COORDINATOR = "the coordinator asked for it";

/** Has on disk what is in demand: the best that fit the disk budget, fetched one at a time. */
export class Preloader {
  readonly #deps: PreloaderDeps;
  /** By slug, best first. */
  #candidates = new Map<string, Candidate>();
  #askedAtMs: number | null = null;
  #problem: string | null = null;
  #work: Promise<void> | null = null;

  constructor(deps: PreloaderDeps) {
    this.#deps = deps;
  }

  status(): PreloadStatus {
    const items = [...this.#candidates.values()].map(({ slug, reason, state, detail }) => ({
      slug,
      reason,
      state,
      detail,
    }));
    return { askedAtMs: this.#askedAtMs, problem: this.#problem, items };
  }

  /** Asks now and every 15 minutes, until aborted. Resolves when all has stopped. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#deps;
    while (!signal.aborted) {
      await this.#ask(signal);
      await clock.sleep(INTERVAL_MS + random() * SPREAD_MS, signal).catch(() => undefined);
    }
    await this.#work;
  }

  /** Takes a Cargo that the coordinator sent: one that was asked for, or one of its own choice. */
  offer(cargo: CargoManifest, signal: AbortSignal): void {
    const known = this.#candidates.get(cargo.slug);
    if (known === undefined && this.#candidates.size >= MOST_UNASKED) return;
    const candidate = known ?? { slug: cargo.slug, reason: SENT_BY_COORDINATOR, cargo, state: "waits", detail: "" };
    candidate.cargo = cargo;
    candidate.state = "waits";
    candidate.detail = "";
    this.#candidates.set(cargo.slug, candidate);
    this.#work ??= this.#fetchAll(signal).finally(() => (this.#work = null));
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { recommend, want, clock, closedBecause } = this.#deps;
    const closed = closedBecause();
    if (closed !== null) {
      this.#problem = `nothing is fetched: the Island is ${closed}`;
      return;
    }
    try {
      const recommended = await recommend(signal);
      this.#candidates = new Map(recommended.map((one) => [one.slug, this.#candidateOf(one)]));
      this.#askedAtMs = clock.now();
      this.#problem = null;
      if (recommended.length > 0 && !want(recommended.map(({ slug }) => slug))) {
        this.#problem = "there was no session in which to ask for the Cargos";
      }
    } catch (error) {
      if (!signal.aborted) this.#problem = messageOf(error);
    }
  }

  #candidateOf(one: Recommendation): Candidate {
    const waiting = one.queued === 1 ? "1 job waits" : `${one.queued} jobs wait`;
    const reason = `${waiting}, demand ${one.demandScore}, earns ${one.earningsPerJob} credits a job`;
    return { slug: one.slug, reason, cargo: null, state: "asked for", detail: "" };
  }

  /** One at a time, best first; whoever comes meanwhile has its turn too. */
  async #fetchAll(signal: AbortSignal): Promise<void> {
    // The frames of one answer come together: the best of them first, not the first of them.
    await Promise.resolve();
    for (let next = this.#next(); next !== undefined && !signal.aborted; next = this.#next()) {
      await this.#fetch(next.candidate, next.cargo, signal);
      this.#deps.onChange();
    }
  }

  #next(): { candidate: Candidate; cargo: CargoManifest } | undefined {
    for (const candidate of this.#candidates.values()) {
      if (candidate.state === "waits" && candidate.cargo !== null) return { candidate, cargo: candidate.cargo };
    }
    return undefined;
  }

  async #fetch(candidate: Candidate, cargo: CargoManifest, signal: AbortSignal): Promise<void> {
    const { files, log } = this.#deps;
    const missing = this.#missingBytes(candidate, cargo);
    if (missing > 0) {
      candidate.state = "does not fit";
      candidate.detail = `${gibibytes(missing)} more than the disk budget leaves beside what is wanted more`;
      return;
    }
    candidate.state = "fetching";
    try {
      await files.preload(cargo, signal, this.#deps.onChange);
      candidate.state = "on disk";
    } catch (error) {
      candidate.state = signal.aborted ? "waits" : "failed";
      candidate.detail = messageOf(error);
      if (!signal.aborted) log.warn({ slug: cargo.slug, reason: messageOf(error) }, "Preload failed");
    }
  }

  /** How much the budget is short of holding this one beside those that are wanted more; 0 or less when it fits. */
  #missingBytes(candidate: Candidate, cargo: CargoManifest): number {
    const { files } = this.#deps;
    let keptBytes = 0;
    for (const better of this.#candidates.values()) {
      if (better === candidate) break;
      if (better.cargo !== null && better.state === "on disk") keptBytes += files.bytesOnDisk(better.cargo) ?? 0;
    }
    // Of unknown size: it may begin while there is room at all.
    const bytes = files.bytesOnDisk(cargo) ?? cargo.model?.sizeBytes ?? 1;
    return keptBytes + bytes - files.budgetBytes;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function gibibytes(bytes: number): string {
  return `${(bytes / 1_073_741_824).toFixed(1)} GiB`;
}
