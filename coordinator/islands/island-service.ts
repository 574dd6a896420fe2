import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { readName } from "../accounts/credential-fields.ts";
import type { JobEarning } from "../store/ledger/host-figures.ts";
import type { IslandRecord } from "../store/islands.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import { readFigures, type IslandFigures } from "./island-figures.ts";
import type { ConnectedIslands, IslandsElsewhere, LiveIsland } from "./live-island.ts";
import type { SuspendedIslands } from "./suspended-islands.ts";

/**
 * As its owner sees it. `paused`: connected, and takes no new jobs. `quarantined`: it let down several jobs in a row. `suspended`: by the
 * operator; it is not connected.
 */
export const ISLAND_STATUSES = ["online", "paused", "quarantined", "offline", "suspended"] as const;
export type IslandStatus = (typeof ISLAND_STATUSES)[number];

export interface OwnedIsland {
  readonly record: IslandRecord;
  readonly status: IslandStatus;
  /** Null unless it is connected, as far as that is known. */
  readonly live: LiveIsland | null;
  readonly figures: IslandFigures;
  /** False: a coordinator that may have it did not answer, and the status is a guess by when it was last seen. */
  readonly isLive: boolean;
  /** Why the operator suspended it, or its account; null: neither. */
  readonly suspendedBecause: string | null;
}

export interface IslandEarnings {
  readonly name: string;
  readonly figures: IslandFigures;
  /** Of its latest jobs that earned something, newest first; at most {@link MAX_RECENT}. */
  readonly recent: readonly JobEarning[];
}

export const MAX_RECENT = 100;

export interface IslandServiceDeps {
  readonly store: Pick<Store, "islands" | "hostFigures">;
  readonly clock: Pick<Clock, "now">;
  readonly here: ConnectedIslands;
  /** Null for a coordinator that is alone. */
  readonly elsewhere: IslandsElsewhere | null;
  /** Called when the owner has changed something of an Island. */
  readonly onChanged?: (accountId: string, hostId: string) => void;
  /** Absent: none is. */
  readonly suspended?: SuspendedIslands | undefined;
}

/** Coordinators note once a minute which Islands they see; one note may be late. */
export const SEEN_LATELY_MS = 150_000;

interface Connections {
  readonly byId: ReadonlyMap<string, LiveIsland>;
  readonly isComplete: boolean;
}

type FiguresOf = Awaited<ReturnType<typeof readFigures>>;

/** The Islands of an account, at whichever coordinator they are. */
export class IslandService {
  readonly #deps: IslandServiceDeps;

  constructor(deps: IslandServiceDeps) {
    this.#deps = deps;
  }

  /** Connected ones first, then by when they were last seen. `total` counts those of the status. */
  async list(
    accountId: string,
    { status, limit, offset }: Page & { readonly status?: IslandStatus | undefined },
  ): Promise<{ islands: OwnedIsland[]; total: number }> {
    const { store } = this.#deps;
    const [known, connections] = await Promise.all([
      store.islands.ofAccount(accountId),
      this.#connections(accountId, null),
    ]);
    const listed = known
      .map((island) => ({ ...island, isConnected: connections.byId.has(island.hostId) }))
      .filter((island) => status === undefined || this.#statusOf({ ...island, accountId }, connections) === status)
      .sort(
        (a, b) =>
          Number(b.isConnected) - Number(a.isConnected) ||
          (a.isConnected ? 0 : b.lastSeenAtMs - a.lastSeenAtMs) ||
          (a.hostId < b.hostId ? -1 : 1),
      );
    const page = listed.slice(offset, offset + limit).map(({ hostId }) => hostId);
    const [found, figuresOf] = await Promise.all([store.islands.getAll(page), this.#figures(accountId, null)]);
    const records = new Map(found.map((record) => [record.hostId, record]));
    // One that was removed meanwhile is left out.
    const islands = page.flatMap((hostId) => this.#owned(records.get(hostId), connections, figuresOf) ?? []);
    return { islands, total: listed.length };
  }

  /** Those of the account among `hostIds`, as {@link list} gives them. */
  async some(accountId: string, hostIds: readonly string[]): Promise<OwnedIsland[]> {
    const [only = null, ...others] = hostIds;
    const hostId = others.length === 0 ? only : null;
    const [found, connections, figuresOf] = await Promise.all([
      this.#deps.store.islands.getAll(hostIds),
      this.#connections(accountId, hostId),
      this.#figures(accountId, hostId),
    ]);
    return found.flatMap((record) => {
      return record.accountId === accountId ? (this.#owned(record, connections, figuresOf) ?? []) : [];
    });
  }

  /** With the models on its disk. @throws {ServiceError} `not_found` */
  async get(accountId: string, hostId: string): Promise<OwnedIsland> {
    const [record, connections, figuresOf] = await Promise.all([
      this.#deps.store.islands.get(hostId),
      this.#connections(accountId, hostId),
      this.#figures(accountId, hostId),
    ]);
    const island = record?.accountId === accountId ? this.#owned(record, connections, figuresOf) : undefined;
    if (island === undefined) throw noIsland(hostId);
    return island;
  }

  /** What the Island's own agent shows its owner. @throws {ServiceError} `not_found` */
  async earnings(accountId: string, hostId: string): Promise<IslandEarnings> {
    const { store } = this.#deps;
    const [record, { byId }, figuresOf, recent] = await Promise.all([
      store.islands.get(hostId),
      this.#connections(accountId, hostId),
      this.#figures(accountId, hostId),
      store.hostFigures.recentEarnings(accountId, hostId, MAX_RECENT),
    ]);
    if (record === undefined || record.accountId !== accountId) throw noIsland(hostId);
    return { name: nameOf(record), figures: figuresOf({ ...record, isConnected: byId.has(hostId) }), recent };
  }

  /** `name` empty: the default again. @throws {ServiceError} `not_found`; {@link ValidationError} */
  async rename(accountId: string, hostId: string, name: string): Promise<OwnedIsland> {
    const read = readName(name, "");
    const isRenamed = await this.#deps.store.islands.rename(accountId, hostId, read === "" ? null : read);
    if (!isRenamed) throw noIsland(hostId);
    this.#deps.onChanged?.(accountId, hostId);
    return this.get(accountId, hostId);
  }

  /** Sends the Island away at once, and forgets it. It comes back with a token that is made later. @throws {ServiceError} `not_found` */
  async remove(accountId: string, hostId: string): Promise<void> {
    const { store, clock, here, elsewhere } = this.#deps;
    if (!(await store.islands.remove(accountId, hostId, clock.now()))) throw noIsland(hostId);
    here.remove(accountId, hostId);
    await elsewhere?.remove(accountId, hostId);
    this.#deps.onChanged?.(accountId, hostId);
  }

  async #connections(accountId: string, hostId: string | null): Promise<Connections> {
    const { here, elsewhere } = this.#deps;
    const others = await elsewhere?.liveOf(accountId, hostId);
    const all = [...(others?.islands ?? []), ...here.liveOf(accountId, hostId)];
    return { byId: new Map(all.map((island) => [island.hostId, island])), isComplete: others?.isComplete ?? true };
  }

  #figures(accountId: string, hostId: string | null): Promise<FiguresOf> {
    const { store, clock } = this.#deps;
    return readFigures(store.hostFigures, { accountId, hostId, nowMs: clock.now() });
  }

  #owned(record: IslandRecord | undefined, connections: Connections, figuresOf: FiguresOf): OwnedIsland | undefined {
    if (record === undefined) return undefined;
    const live = connections.byId.get(record.hostId) ?? null;
    const lastSeenAtMs = live === null ? record.lastSeenAtMs : this.#deps.clock.now();
    return {
      record: { ...record, lastSeenAtMs },
      status: this.#statusOf(record, connections),
      live,
      figures: figuresOf({ ...record, isConnected: live !== null }),
      isLive: live !== null || connections.isComplete,
      suspendedBecause: this.#suspended(record),
    };
  }

  #statusOf(
    island: Pick<IslandRecord, "hostId" | "accountId" | "lastSeenAtMs">,
    { byId, isComplete }: Connections,
  ): IslandStatus {
    const wasSeenLately = !isComplete && island.lastSeenAtMs >= this.#deps.clock.now() - SEEN_LATELY_MS;
    return statusOf(byId.get(island.hostId), this.#suspended(island) !== null, wasSeenLately);
  }

  #suspended({ hostId, accountId }: Pick<IslandRecord, "hostId" | "accountId">): string | null {
    return this.#deps.suspended?.reasonFor(hostId, accountId) ?? null;
  }
}

/** `mayBeConnected`: at a coordinator that did not answer. */
export function statusOf(live: LiveIsland | undefined, isSuspended: boolean, mayBeConnected: boolean): IslandStatus {
  if (isSuspended) return "suspended";
  if (live === undefined) return mayBeConnected ? "online" : "offline";
  if (live.isDraining) return "paused";
  return live.isQuarantined ? "quarantined" : "online";
}

/** What an Island is called: by its owner, by its machine, or by the beginning of its id. */
export function nameOf({ name, hostName, hostId }: Pick<IslandRecord, "name" | "hostName" | "hostId">): string {
  return name ?? (hostName === null || hostName === "" ? `island-${hostId.slice(0, 8)}` : hostName);
}

function noIsland(hostId: string): ServiceError {
  return new ServiceError("not_found", `The account has no Island "${hostId}"; GET /api/v1/islands lists yours`);
}
