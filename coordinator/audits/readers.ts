import type { Clock } from "../../shared/clock.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { isProven, type Standing } from "../credits/standing.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import { engineModelFor, fits } from "../scheduler/fit.ts";
import { auditFeaturesOf } from "./audit-kinds.ts";
import type { Standings } from "./standings.ts";

/** Islands are counted, and other coordinators are asked, again after this time, because each job of a new owner asks. */
const KNOWN_FOR_MS = 1_000;

/** Owners that can audit at the other coordinators. */
interface Elsewhere {
  readonly askedAtMs: number;
  /** Resolves when each coordinator has replied or timed out. */
  readonly settled: Promise<void>;
  /** Owners by the id of the coordinator; null before the first replies. */
  owners: ReadonlyMap<string, readonly string[]> | null;
}

/** Reply of another coordinator: owners whose Islands can audit; undefined if none came in time. */
interface ReadersReply {
  readonly id: string;
  readonly reply: readonly string[] | undefined;
}

export type Readers = ReturnType<typeof findReaders>;

/**
 * Finds owners whose Islands can audit answers of a Cargo: they read them, or repeat the job.
 * @param askOthers Asks all other coordinators for such owners. Null for a single coordinator.
 */
export function findReaders(
  clock: Pick<Clock, "monotonicMs">,
  islands: Pick<IslandRegistry, "connected" | "factsOf">,
  standings: Pick<Standings, "of">,
  askOthers: (slug: string) => Promise<readonly ReadersReply[]> | null,
  random: () => number,
) {
  const counted = new Map<string, { readonly atMs: number; readonly owners: readonly string[] }>();
  const asked = new Map<string, Elsewhere>();

  function ownersHere(cargo: CatalogEntry): readonly string[] {
    const known = counted.get(cargo.slug);
    if (known !== undefined && clock.monotonicMs() - known.atMs < KNOWN_FOR_MS) return known.owners;
    const needs = { ...cargo, onlyIslandsOf: null, features: auditFeaturesOf(cargo) };
    const owners = new Set<string>();
    for (const { facts } of islands.connected()) {
      // An engine of the host cannot read a given text, and may compute in another way.
      if (owners.has(facts.accountId) || engineModelFor(cargo, facts) !== undefined) continue;
      if (fits(needs, facts) === true) owners.add(facts.accountId);
    }
    counted.set(cargo.slug, { atMs: clock.monotonicMs(), owners: [...owners] });
    return [...owners];
  }

  /** Returns what is known about the other coordinators; null for a single coordinator. */
  function elsewhere(slug: string): Elsewhere | null {
    const known = asked.get(slug);
    if (known !== undefined && clock.monotonicMs() - known.askedAtMs < KNOWN_FOR_MS) return known;
    const replies = askOthers(slug);
    if (replies === null) {
      asked.delete(slug);
      return null;
    }
    const before = known?.owners ?? null;
    const settled = replies.then((all) => {
      // Islands of a coordinator that does not reply may soon be at another one. Older versions never reply.
      next.owners = new Map(all.map(({ id, reply }) => [id, reply ?? before?.get(id) ?? []]));
    });
    const next: Elsewhere = { askedAtMs: clock.monotonicMs(), settled, owners: before };
    asked.set(slug, next);
    return next;
  }

  /** Returns the owners that may read: those who have proved themselves, and those who may yet. */
  function divided(owners: readonly string[], slug: string): { readonly proven: string[]; readonly fresh: string[] } {
    const standingOf = (id: string): Standing => standings.of(id, slug);
    return {
      proven: owners.filter((id) => isProven(standingOf(id))),
      fresh: owners.filter((id) => standingOf(id).state === "new"),
    };
  }

  /** Returns the proven owners, or all others without these unless `onlyProven`, except `exclude`. */
  function eligible(
    owners: readonly string[],
    slug: string,
    exclude: ReadonlySet<string>,
    onlyProven: boolean,
  ): string[] {
    const others = owners.filter((id) => !exclude.has(id));
    const { proven, fresh } = divided(others, slug);
    return proven.length > 0 || onlyProven ? proven : fresh;
  }

  return {
    /**
     * Returns whether an owner can audit. Assumes so until all other coordinators have replied or timed out.
     * @param onlyProven Whether new owners may not see the job.
     */
    exists(cargo: CatalogEntry, exclude: ReadonlySet<string>, onlyProven: boolean): boolean {
      if (eligible(ownersHere(cargo), cargo.slug, exclude, onlyProven).length > 0) return true;
      const others = elsewhere(cargo.slug);
      if (others === null) return false;
      return others.owners === null || eligible(ownersOf(others), cargo.slug, exclude, onlyProven).length > 0;
    },
    /** Returns whether an Island reported a feature. False for one that left. */
    hasFeature: (islandId: string, name: string): boolean =>
      islands.factsOf([islandId]).some(({ facts }) => facts.features?.includes(name) === true),
    /** Returns a random owner; undefined if none is connected to any coordinator. */
    async choose(cargo: CatalogEntry, exclude: ReadonlySet<string>, onlyProven: boolean): Promise<string | undefined> {
      const others = elsewhere(cargo.slug);
      await others?.settled;
      const all = new Set([...ownersHere(cargo), ...ownersOf(others)]);
      const owners = eligible([...all], cargo.slug, exclude, onlyProven);
      return owners[Math.floor(random() * owners.length)];
    },
    /** Returns the owners whose Islands at this coordinator can read, proven ones first. */
    here(cargo: CatalogEntry): string[] {
      const { proven, fresh } = divided(ownersHere(cargo), cargo.slug);
      return [...proven, ...fresh];
    },
  };
}

function ownersOf(others: Elsewhere | null): string[] {
  return [...(others?.owners?.values() ?? [])].flat();
}
