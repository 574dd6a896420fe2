import { every, type LoopEnv } from "../../shared/async/every.ts";
import type { Store } from "../store/store.ts";

/**
 * Poll interval. A change whose bus message was lost is read within half a second, so it is in force within a second.
 */
const POLL_MS = 250;
/** Number of polls, a minute, after which listeners get all suspended accounts again: a job may have been adopted. */
const POLLS_BETWEEN_REPORTS = 240;

type Known = Awaited<ReturnType<Store["operators"]["suspensions"]>>;
type Listener = (ids: ReadonlySet<string>) => void;

export type Suspensions = Awaited<ReturnType<typeof openSuspensions>>;

/**
 * Polls the accounts and Islands that coordinators or commands suspended. Must be awaited before clients and Islands
 * are accepted.
 * @param credentials provides the revision that each suspension increments
 */
export async function openSuspensions(
  { clock, log }: Pick<LoopEnv, "clock" | "log">,
  store: Pick<Store, "operators">,
  credentials: { revision(): number | Promise<number> },
) {
  const accountListeners = new Set<Listener>();
  const islandListeners = new Set<Listener>();
  let known: Known = { accounts: new Map(), islands: new Map() };
  let knownRevision: number | null = null;
  /** Accounts to report again at the next poll: a request accepted before the first report may submit after it. */
  let toRepeat: ReadonlySet<string> = new Set();
  let polls = 0;
  const stop = new AbortController();

  const poll = async (): Promise<void> => {
    polls += 1;
    const due = polls % POLLS_BETWEEN_REPORTS === 0 ? new Set(known.accounts.keys()) : toRepeat;
    toRepeat = new Set();
    notify(accountListeners, due);
    const revision = await credentials.revision();
    if (revision === knownRevision) return;
    const before = known;
    known = await store.operators.suspensions();
    knownRevision = revision;
    toRepeat = addedIds(known.accounts, before.accounts);
    notify(accountListeners, toRepeat);
    notify(islandListeners, addedIds(known.islands, before.islands));
  };

  await poll();
  const changed = every({ clock, log, stop: stop.signal }, POLL_MS, "read suspensions", poll);
  return {
    /** Polls at once. Resolves when a change is in force at this coordinator. */
    changed,
    /** Returns the reason to show to an Island's owner; null if neither Island nor account is suspended. */
    reasonFor: (hostId: string, accountId: string): string | null => reasonIn(known, hostId, accountId),
    /** Calls `listener` with suspended accounts: soon after the suspension, again a moment later, and once a minute. */
    onAccounts: (listener: Listener): unknown => accountListeners.add(listener),
    /** Calls `listener` with newly suspended Islands. */
    onIslands: (listener: Listener): unknown => islandListeners.add(listener),
    close: (): void => stop.abort(),
  };
}

export function reasonIn({ accounts, islands }: Known, hostId: string, accountId: string): string | null {
  const owner = accounts.get(accountId);
  if (owner !== undefined) return `the operator suspended this Island's account: ${owner}`;
  const island = islands.get(hostId);
  return island === undefined ? null : `the operator suspended this Island: ${island}`;
}

function addedIds(known: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set([...known.keys()].filter((id) => !before.has(id)));
}

function notify(listeners: ReadonlySet<Listener>, ids: ReadonlySet<string>): void {
  if (ids.size > 0) for (const listener of listeners) listener(ids);
}
