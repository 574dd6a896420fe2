import type { Clock } from "../../shared/clock.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import { engineModelFor, fits } from "../scheduler/fit.ts";
import type { Standings } from "./standings.ts";

/** Feature of agents that read an answer. See `shared/features/features.ts`. */
const READ_FEATURES = ["chat.read"];
/** Islands are counted again after this time, because each job of a new owner asks. */
const COUNTED_FOR_MS = 1_000;

export type Readers = ReturnType<typeof findReaders>;

/** Finds owners whose Islands can read answers of a Cargo. */
export function findReaders(
  clock: Pick<Clock, "monotonicMs">,
  islands: Pick<IslandRegistry, "connected">,
  standings: Pick<Standings, "of">,
  random: () => number,
) {
  const counted = new Map<string, { readonly atMs: number; readonly owners: readonly string[] }>();

  function ownersFor(cargo: CatalogEntry): readonly string[] {
    const known = counted.get(cargo.slug);
    if (known !== undefined && clock.monotonicMs() - known.atMs < COUNTED_FOR_MS) return known.owners;
    const needs = { ...cargo, onlyIslandsOf: null, features: READ_FEATURES };
    const owners = new Set<string>();
    for (const { facts } of islands.connected()) {
      // An engine of the host cannot read a given text.
      if (owners.has(facts.accountId) || engineModelFor(cargo, facts) !== undefined) continue;
      if (fits(needs, facts) === true) owners.add(facts.accountId);
    }
    counted.set(cargo.slug, { atMs: clock.monotonicMs(), owners: [...owners] });
    return [...owners];
  }

  /** Returns the owners that may read, except `exclude`: those who have proved themselves, or all others. */
  function eligible(cargo: CatalogEntry, exclude: ReadonlySet<string>): string[] {
    const others = ownersFor(cargo).filter((id) => !exclude.has(id));
    const states = others.map((id) => ({ id, state: standings.of(id, cargo.slug).state }));
    const proven = states.filter(({ state }) => state === "proven" || state === "trusted");
    return (proven.length > 0 ? proven : states.filter(({ state }) => state === "new")).map(({ id }) => id);
  }

  return {
    exists: (cargo: CatalogEntry, exclude: ReadonlySet<string>): boolean => eligible(cargo, exclude).length > 0,
    /** Returns a random owner; undefined if none is connected. */
    choose(cargo: CatalogEntry, exclude: ReadonlySet<string>): string | undefined {
      const owners = eligible(cargo, exclude);
      return owners[Math.floor(random() * owners.length)];
    },
  };
}
