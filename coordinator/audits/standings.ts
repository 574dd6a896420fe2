import { every, type LoopEnv } from "../../shared/async/every.ts";
import type { StoredStanding } from "../store/audits.ts";
import type { Store } from "../store/store.ts";
import { isProven, NEW_STANDING, type Standing, TRUSTED } from "../credits/standing.ts";

/** Poll interval: within it, other coordinators and commands have changed a standing. */
const POLL_MS = 1_000;
/** Audits that a new owner may wait for. At the first number it gets no more jobs of the Cargo, until fewer than the second are due. */
export const MAX_DUE = 5;
const RESUMES_AT_DUE = 3;
/** A change may be stored this long after the time that it carries. */
const MAX_LATE_MS = 60_000;

const NONE: ReadonlySet<string> = new Set();

export type Standings = Awaited<ReturnType<typeof openStandings>>;

/** Keeps the standings of all owners in memory. Must be awaited before Islands are accepted. */
export async function openStandings(
  { clock, log }: Pick<LoopEnv, "log"> & { readonly clock: LoopEnv["clock"] & { now(): number } },
  { audits }: Pick<Store, "audits">,
) {
  const bySlug = new Map<string, Map<string, Standing>>();
  /** Owners that get no jobs, by Cargo. */
  const refused = new Map<string, ReadonlySet<string>>();
  /** Number of due audits of each owner with a Cargo. */
  const due = new Map<string, number>();
  const listeners = new Set<(slug: string | null) => void>();
  let operators: ReadonlySet<string> = NONE;
  let readAtMs = 0;
  const stop = new AbortController();

  function of(ownerAccountId: string, slug: string): Standing {
    if (operators.has(ownerAccountId)) return TRUSTED;
    return bySlug.get(slug)?.get(ownerAccountId) ?? NEW_STANDING;
  }

  function note({ ownerAccountId, slug, standing }: StoredStanding): void {
    const wasProven = isProven(of(ownerAccountId, slug));
    const owners = bySlug.get(slug) ?? new Map<string, Standing>();
    bySlug.set(slug, owners);
    owners.set(ownerAccountId, standing);
    const isChanged = updateRefused(ownerAccountId, slug) || wasProven !== isProven(of(ownerAccountId, slug));
    if (isChanged) tell(slug);
  }

  function tell(slug: string | null): void {
    for (const listener of listeners) listener(slug);
  }

  /** Returns whether the owner now gets jobs of the Cargo, or no longer. */
  function updateRefused(ownerAccountId: string, slug: string): boolean {
    const { state } = of(ownerAccountId, slug);
    const before = refused.get(slug) ?? NONE;
    const wasIn = before.has(ownerAccountId);
    const limit = wasIn ? RESUMES_AT_DUE : MAX_DUE;
    const isWaiting = state === "new" && (due.get(keyOf(ownerAccountId, slug)) ?? 0) >= limit;
    const isIn = state === "quarantined" || isWaiting;
    if (wasIn === isIn) return false;
    const others = [...before].filter((id) => id !== ownerAccountId);
    refused.set(slug, new Set(isIn ? [...others, ownerAccountId] : others));
    return true;
  }

  const poll = async (): Promise<void> => {
    const nowMs = clock.now();
    const changed = await audits.standings(readAtMs);
    const before = operators;
    operators = new Set(changed.operatorIds);
    const isSame = operators.size === before.size && changed.operatorIds.every((id) => before.has(id));
    if (!isSame) tell(null);
    readAtMs = nowMs - MAX_LATE_MS;
    for (const stored of changed.standings) note(stored);
  };

  await poll();
  every({ clock, log, stop: stop.signal }, POLL_MS, "read the standings of owners", poll);
  return {
    /** Records a standing that this coordinator has stored. */
    note,
    of,
    /** Counts audits that became due, or that ended with a negative number. */
    addDue(ownerAccountId: string, slug: string, count: number): void {
      const key = keyOf(ownerAccountId, slug);
      const rest = (due.get(key) ?? 0) + count;
      if (rest > 0) due.set(key, rest);
      else due.delete(key);
      if (updateRefused(ownerAccountId, slug)) tell(slug);
    },
    /** Returns the owners that get no jobs of the Cargo: they are quarantined, or many of their audits are due. */
    refusedWith: (slug: string): ReadonlySet<string> => refused.get(slug) ?? NONE,
    /** Calls `listener` with each Cargo for which another set of owners gets jobs, or is proven; null: all Cargos. */
    onChange: (listener: (slug: string | null) => void): unknown => listeners.add(listener),
    close: (): void => stop.abort(),
  };
}

function keyOf(ownerAccountId: string, slug: string): string {
  return `${ownerAccountId} ${slug}`;
}
