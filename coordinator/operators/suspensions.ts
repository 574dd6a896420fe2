import type { Clock } from "../../shared/clock.ts";
import { every } from "../../shared/async/every.ts";
import type { Logger } from "../../shared/logger.ts";
import { suspendedIsland, suspendedOwner, type SuspendedIslands } from "../islands/suspended-islands.ts";
import type { Store } from "../store/store.ts";

export interface SuspensionsDeps {
  readonly store: Pick<Store, "accounts" | "operators">;
  /** Where several coordinators share the store: knows the revision of the credentials, which each suspension raises. */
  readonly credentials: { revision(): number | Promise<number> } | undefined;
  readonly clock: Pick<Clock, "schedule">;
  readonly log: Pick<Logger, "error">;
}

/** With the half second in which a coordinator hears of changes whose message was lost, a suspension counts everywhere within a second. */
const LOOK_MS = 250;

type Known = Awaited<ReturnType<Store["operators"]["suspensions"]>>;
type Listener = (ids: ReadonlySet<string>) => void;

/** After so many looks, a minute, listeners hear of all suspended accounts: of jobs that came from a coordinator that died. */
const LOOKS_BETWEEN = 240;

/**
 * Which accounts and Islands are suspended, by any coordinator or by a command. It looks four times a second whether that may have changed;
 * among several coordinators the number that it compares is in memory.
 */
export class Suspensions implements SuspendedIslands {
  readonly #deps: SuspensionsDeps;
  readonly #onAccounts = new Set<Listener>();
  readonly #onIslands = new Set<Listener>();
  #known: Known = { accounts: new Map(), islands: new Map() };
  #revision: number | null = null;
  /** Listeners hear of these accounts at the next look: a request that was let in before may end after the first time. */
  #again: ReadonlySet<string> = new Set();
  #looks = 0;
  readonly #stop = new AbortController();
  /** Something was suspended or reinstated here. Resolves when that counts at this coordinator. */
  changed: () => Promise<void> = () => Promise.resolve();

  private constructor(deps: SuspensionsDeps) {
    this.#deps = deps;
  }

  /** Learns what is suspended, before clients and Islands are let in. */
  static async open(deps: SuspensionsDeps): Promise<Suspensions> {
    const suspensions = new Suspensions(deps);
    await suspensions.#look();
    // Not before: a look that fails is tried again, with another object.
    const loop = { ...deps, stop: suspensions.#stop.signal };
    suspensions.changed = every(loop, LOOK_MS, "read suspensions", () => suspensions.#look());
    return suspensions;
  }

  reasonFor(hostId: string, accountId: string): string | null {
    return reasonIn(this.#known, hostId, accountId);
  }

  /** Calls `listener` with accounts that are suspended: soon after, again a moment later, and once a minute. */
  onAccounts(listener: Listener): void {
    this.#onAccounts.add(listener);
  }

  /** Calls `listener` with Islands that are suspended from now on. */
  onIslands(listener: Listener): void {
    this.#onIslands.add(listener);
  }

  close(): void {
    this.#stop.abort();
  }

  async #look(): Promise<void> {
    this.#looks += 1;
    const again = this.#looks % LOOKS_BETWEEN === 0 ? new Set(this.#known.accounts.keys()) : this.#again;
    this.#again = new Set();
    tell(this.#onAccounts, again);
    const { store, credentials } = this.#deps;
    const revision = await (credentials?.revision() ?? store.accounts.credentialsRevision());
    if (revision === this.#revision) return;
    const known = await store.operators.suspensions();
    const before = this.#known;
    this.#known = known;
    this.#revision = revision;
    this.#again = newIn(known.accounts, before.accounts);
    tell(this.#onAccounts, this.#again);
    tell(this.#onIslands, newIn(known.islands, before.islands));
  }
}

/** As {@link Suspensions.reasonFor}, of what was read. */
export function reasonIn({ accounts, islands }: Known, hostId: string, accountId: string): string | null {
  const owner = accounts.get(accountId);
  if (owner !== undefined) return suspendedOwner(owner);
  const island = islands.get(hostId);
  return island === undefined ? null : suspendedIsland(island);
}

function newIn(known: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set([...known.keys()].filter((id) => !before.has(id)));
}

function tell(listeners: ReadonlySet<Listener>, ids: ReadonlySet<string>): void {
  if (ids.size > 0) for (const listener of listeners) listener(ids);
}
