import { cacheKeyOf } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { fits } from "../scheduler/fit.ts";
import type { IslandRegistry } from "./island-registry.ts";

/** Connected Islands that may run a Cargo. At each coordinator at most {@link MAX_COUNTED} are counted. */
export interface AvailableCargo {
  readonly slug: string;
  readonly islands: number;
  /** Those that have its model or image, or need none. */
  readonly ready: number;
  /** Those with a free slot. */
  readonly free: number;
}

export interface Availability {
  /** Only Cargos that some Island may run. */
  readonly cargos: readonly AvailableCargo[];
  /** False: a coordinator did not answer. */
  readonly isComplete: boolean;
}

export interface CargoAvailabilityDeps {
  readonly islands: Pick<IslandRegistry, "connected">;
  readonly catalog: Pick<Catalog, "list">;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** What other coordinators have for an account; undefined for each that does not answer. */
  readonly askOthers: (accountId: string) => Promise<readonly (readonly AvailableCargo[] | undefined)[]>;
}

export const MAX_COUNTED = 100;
/** Who asks again within this time gets the same answer; and all who ask, the same count of public Cargos over all Islands. */
const FRESH_MS = 5_000;
const MAX_REMEMBERED = 1_000;

type Connected = ReturnType<IslandRegistry["connected"]> extends Iterable<infer Each> ? Each : never;

/** Which Cargos of an account's catalog can run now, on the Islands of all coordinators. */
export class CargoAvailability {
  readonly #deps: CargoAvailabilityDeps;
  #public: { readonly atMs: number; readonly cargos: readonly AvailableCargo[] } | null = null;
  readonly #last = recentMap<{ readonly atMs: number; readonly answer: Promise<Availability> }>(MAX_REMEMBERED);

  constructor(deps: CargoAvailabilityDeps) {
    this.#deps = deps;
  }

  /** At most 5 s old. */
  of(accountId: string): Promise<Availability> {
    const atMs = this.#deps.clock.monotonicMs();
    const last = this.#last.get(accountId);
    if (last !== undefined && atMs - last.atMs < FRESH_MS) return last.answer;
    const answer = this.#read(accountId);
    this.#last.set(accountId, { atMs, answer });
    answer.catch(() => this.#last.delete(accountId));
    return answer;
  }

  /** On the Islands of this coordinator. */
  here(accountId: string): AvailableCargo[] {
    const { catalog, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (this.#public === null || nowMs - this.#public.atMs >= FRESH_MS) {
      this.#public = { atMs: nowMs, cargos: this.#count(catalog.list()) };
    }
    const own = catalog.list({}, accountId).filter(({ privateTo }) => privateTo === accountId);
    return [...this.#public.cargos, ...this.#count(own)];
  }

  #count(cargos: readonly CatalogEntry[]): AvailableCargo[] {
    if (cargos.length === 0) return [];
    const { islands } = this.#deps;
    const connected = [...islands.connected()];
    const most = { ram: 0, vram: 0, runtimes: new Set<string>() };
    for (const { facts } of connected) {
      most.ram = Math.max(most.ram, facts.ramBytes);
      most.vram = Math.max(most.vram, facts.vramBytes);
      for (const runtime of facts.runtimes) most.runtimes.add(runtime);
    }
    // A Cargo that is too large for all is not compared with each.
    const candidates = cargos.filter(
      ({ runtimeType, requiredRamBytes, requiredVramBytes }) =>
        most.runtimes.has(runtimeType) && requiredRamBytes <= most.ram && requiredVramBytes <= most.vram,
    );
    return candidates.map((cargo) => countIslands(cargo, connected)).filter(({ islands: count }) => count > 0);
  }

  async #read(accountId: string): Promise<Availability> {
    const others = await this.#deps.askOthers(accountId);
    const heard = others.filter((cargos) => cargos !== undefined);
    const sums = new Map<string, AvailableCargo>();
    for (const cargo of [this.here(accountId), ...heard].flat()) {
      const { slug, islands = 0, ready = 0, free = 0 } = sums.get(cargo.slug) ?? { slug: cargo.slug };
      sums.set(slug, { slug, islands: islands + cargo.islands, ready: ready + cargo.ready, free: free + cargo.free });
    }
    const cargos = [...sums.values()].sort((a, b) => (a.slug < b.slug ? -1 : 1));
    return { cargos, isComplete: heard.length === others.length };
  }
}

function countIslands(cargo: CatalogEntry, connected: readonly Connected[]): AvailableCargo {
  const needs = { ...cargo, onlyIslandsOf: cargo.privateTo ?? null };
  const cacheKey = cacheKeyOf(cargo);
  let [islands, ready, free] = [0, 0, 0];
  for (const { island, facts } of connected) {
    if (islands >= MAX_COUNTED) break;
    if (fits(needs, facts) !== true) continue;
    islands += 1;
    if (cacheKey === null || facts.cachedModels.includes(cacheKey)) ready += 1;
    if (island.slotsInUse < facts.slots) free += 1;
  }
  return { slug: cargo.slug, islands, ready, free };
}
