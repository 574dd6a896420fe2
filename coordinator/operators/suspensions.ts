import { every, type LoopEnv } from "../../shared/async/every.ts";
import type { Store } from "../store/store.ts";

/** With the half second in which a coordinator hears of changes whose message was lost, a suspension counts everywhere within a second. */
const LOOK_MS = 250;

type Known = Awaited<ReturnType<Store["operators"]["suspensions"]>>;
type Listener = (ids: ReadonlySet<string>) => void;

/** After this many looks, a minute, listeners get all suspended accounts: jobs may have come from a coordinator that died. */
const LOOKS_BETWEEN = 240;

/**
 * Which accounts and Islands are suspended, by any coordinator or by a command. It looks four times a second whether that may have changed;
 * among several coordinators the number that it compares is in memory.
 */
export type Suspensions = Awaited<ReturnType<typeof openSuspensions>>;

/**
 * Resolves when it is known what is suspended: call it before clients and Islands are let in. Rejects if that cannot be read.
 * @param credentials knows the revision of the credentials, which each suspension raises.
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
  /** Listeners get these accounts again at the next look: a request that was let in before may end after the first time. */
  let again: ReadonlySet<string> = new Set();
  let looks = 0;
  const stop = new AbortController();

  const look = async (): Promise<void> => {
    looks += 1;
    const due = looks % LOOKS_BETWEEN === 0 ? new Set(known.accounts.keys()) : again;
    again = new Set();
    tell(accountListeners, due);
    const revision = await credentials.revision();
    if (revision === knownRevision) return;
    const before = known;
    known = await store.operators.suspensions();
    knownRevision = revision;
    again = newIn(known.accounts, before.accounts);
    tell(accountListeners, again);
    tell(islandListeners, newIn(known.islands, before.islands));
  };

  await look();
  const changed = every({ clock, log, stop: stop.signal }, LOOK_MS, "read suspensions", look);
  return {
    /** Call it when something was suspended or reinstated here. Resolves when that counts at this coordinator. */
    changed,
    /** Sent to the owner of an Island; null if neither the Island nor its account is suspended. */
    reasonFor: (hostId: string, accountId: string): string | null => reasonIn(known, hostId, accountId),
    /** Calls `listener` with accounts that are suspended: soon after, again a moment later, and once a minute. */
    onAccounts: (listener: Listener): unknown => accountListeners.add(listener),
    /** Calls `listener` with Islands that are suspended from now on. */
    onIslands: (listener: Listener): unknown => islandListeners.add(listener),
    close: (): void => stop.abort(),
  };
}

/** As `reasonFor` of {@link Suspensions}, for what was read. */
export function reasonIn({ accounts, islands }: Known, hostId: string, accountId: string): string | null {
  const owner = accounts.get(accountId);
  if (owner !== undefined) return `the operator suspended this Island's account: ${owner}`;
  const island = islands.get(hostId);
  return island === undefined ? null : `the operator suspended this Island: ${island}`;
}

function newIn(known: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set([...known.keys()].filter((id) => !before.has(id)));
}

function tell(listeners: ReadonlySet<Listener>, ids: ReadonlySet<string>): void {
  if (ids.size > 0) for (const listener of listeners) listener(ids);
}
