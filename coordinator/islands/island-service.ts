import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { readName } from "../accounts/credential-fields.ts";
import type { OwnStanding } from "../store/audits.ts";
import type { JobEarning } from "../store/ledger/host-metrics.ts";
import type { IslandRecord } from "../store/islands.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import { readMetrics, type IslandMetrics } from "./island-metrics.ts";
import type { ConnectedIslands, IslandsElsewhere, LiveIsland } from "./live-island.ts";

/**
 * `paused`: connected, accepts no new jobs. `quarantined`: failed several jobs in a row. `suspended`: by the operator.
 */
export const ISLAND_STATUSES = ["online", "paused", "quarantined", "offline", "suspended"] as const;
type IslandStatus = (typeof ISLAND_STATUSES)[number];

export interface ListedIsland<R> {
  readonly record: R;
  readonly status: IslandStatus;
  /** Live state; null if the Island is not known to be connected. */
  readonly live: LiveIsland | null;
  /**
   * False if a coordinator that may have the Island did not reply. The status then depends on the Island's last record.
   */
  readonly isLive: boolean;
  /** Why the operator suspended the Island or its account; null if neither is suspended. */
  readonly suspensionReason: string | null;
}

export interface OwnedIsland extends ListedIsland<IslandRecord> {
  readonly metrics: IslandMetrics;
}

export interface OwnedIslandDetail extends OwnedIsland {
  /** Standings of the owner, which are those of all its Islands. */
  readonly standings: readonly OwnStanding[];
}

export interface IslandEarnings {
  readonly name: string;
  readonly metrics: IslandMetrics;
  /** The Island's latest jobs with earnings, newest first; at most {@link MAX_RECENT}. */
  readonly recent: readonly JobEarning[];
  readonly standings: readonly OwnStanding[];
}

export const MAX_RECENT = 100;

/** Maximum age of a connected Island's last record. Coordinators write one each minute, and one may be late. */
export const SEEN_LATELY_MS = 150_000;

/** Islands that are connected to any coordinator. */
export interface Connections {
  readonly byId: ReadonlyMap<string, LiveIsland>;
  /** False if a coordinator did not reply. */
  readonly isComplete: boolean;
}

type MetricsOf = Awaited<ReturnType<typeof readMetrics>>;

export type IslandService = ReturnType<typeof islandService>;

/** Serves the Islands of an account, whichever coordinators they are connected to. */
export function islandService(
  clock: Pick<Clock, "now">,
  store: Pick<Store, "audits" | "islands" | "hostMetrics">,
  here: ConnectedIslands,
  elsewhere: IslandsElsewhere,
  suspensionOf: (hostId: string, accountId: string) => string | null,
  onChanged: (accountId: string, hostId: string) => void,
) {
  /**
   * Lists an account's Islands: the connected first, then the others by the time they were last seen. `total` counts
   * all with the status.
   */
  async function list(
    accountId: string,
    { status, limit, offset }: Page & { readonly status?: IslandStatus | undefined },
  ): Promise<{ islands: OwnedIsland[]; total: number }> {
    const [known, connections] = await Promise.all([
      store.islands.ofAccount(accountId),
      connectionsOf(accountId, null),
    ]);
    const nowMs = clock.now();
    const listed = known
      .map((island) => listedIsland(island, connections, suspensionOf(island.hostId, accountId), nowMs))
      .filter((island) => status === undefined || island.status === status)
      .sort(
        (a, b) =>
          Number(b.live !== null) - Number(a.live !== null) ||
          b.record.lastSeenAtMs - a.record.lastSeenAtMs ||
          (a.record.hostId < b.record.hostId ? -1 : 1),
      );
    const page = listed.slice(offset, offset + limit).map(({ record }) => record.hostId);
    const [found, metricsOf] = await Promise.all([store.islands.getAll(page), metrics(accountId, null)]);
    const records = new Map(found.map((record) => [record.hostId, record]));
    // Omit an Island that was removed since.
    const islands = page.flatMap((hostId) => owned(records.get(hostId), connections, metricsOf) ?? []);
    return { islands, total: listed.length };
  }

  /** Returns the account's Islands among `hostIds`, in the form of {@link list}. */
  async function some(accountId: string, hostIds: readonly string[]): Promise<OwnedIsland[]> {
    const [only = null, ...others] = hostIds;
    const hostId = others.length === 0 ? only : null;
    const [found, connections, metricsOf] = await Promise.all([
      store.islands.getAll(hostIds),
      connectionsOf(accountId, hostId),
      metrics(accountId, hostId),
    ]);
    return found.flatMap((record) => {
      return record.accountId === accountId ? (owned(record, connections, metricsOf) ?? []) : [];
    });
  }

  /** Returns one Island with the models on its disk. @throws {ServiceError} `not_found` */
  async function get(accountId: string, hostId: string): Promise<OwnedIslandDetail> {
    const [record, connections, metricsOf, standings] = await Promise.all([
      store.islands.get(hostId),
      connectionsOf(accountId, hostId),
      metrics(accountId, hostId),
      store.audits.ofOwner(accountId),
    ]);
    const island = record?.accountId === accountId ? owned(record, connections, metricsOf) : undefined;
    if (island === undefined) throw noIsland(hostId);
    return { ...island, standings };
  }

  /** Returns the earnings that the Island's agent shows its owner. @throws {ServiceError} `not_found` */
  async function earnings(accountId: string, hostId: string): Promise<IslandEarnings> {
    const [record, { byId }, metricsOf, recent, standings] = await Promise.all([
      store.islands.get(hostId),
      connectionsOf(accountId, hostId),
      metrics(accountId, hostId),
      store.hostMetrics.recentEarnings(accountId, hostId, MAX_RECENT),
      store.audits.ofOwner(accountId),
    ]);
    if (record === undefined || record.accountId !== accountId) throw noIsland(hostId);
    const ofIsland = metricsOf({ ...record, isConnected: byId.has(hostId) });
    return { name: nameOf(record), metrics: ofIsland, recent, standings };
  }

  /** Renames an Island; an empty `name` resets it. @throws {ServiceError} `not_found`; {@link ValidationError} */
  async function rename(accountId: string, hostId: string, name: string): Promise<OwnedIslandDetail> {
    const read = readName(name, "");
    const isRenamed = await store.islands.rename(accountId, hostId, read === "" ? null : read);
    if (!isRenamed) throw noIsland(hostId);
    onChanged(accountId, hostId);
    return get(accountId, hostId);
  }

  /**
   * Deletes the Island, which can only return with a token that is created later.
   * @throws {ServiceError} `not_found`
   */
  async function remove(accountId: string, hostId: string): Promise<void> {
    if (!(await store.islands.remove(accountId, hostId, clock.now()))) throw noIsland(hostId);
    here.remove(accountId, hostId);
    await elsewhere.remove(accountId, hostId);
    onChanged(accountId, hostId);
  }

  async function connectionsOf(accountId: string, hostId: string | null): Promise<Connections> {
    const { islands, isComplete } = await elsewhere.liveOf(accountId, hostId);
    const all = [...islands, ...here.liveOf(accountId, hostId)];
    return { byId: new Map(all.map((island) => [island.hostId, island])), isComplete };
  }

  function metrics(accountId: string, hostId: string | null): Promise<MetricsOf> {
    return readMetrics(store.hostMetrics, { accountId, hostId, nowMs: clock.now() });
  }

  function owned(
    record: IslandRecord | undefined,
    connections: Connections,
    metricsOf: MetricsOf,
  ): OwnedIsland | undefined {
    if (record === undefined) return undefined;
    const listed = listedIsland(record, connections, suspensionOf(record.hostId, record.accountId), clock.now());
    return { ...listed, metrics: metricsOf({ ...record, isConnected: listed.live !== null }) };
  }

  return { list, some, get, earnings, rename, remove };
}

/** Combines the stored record of an Island with its live state. */
export function listedIsland<R extends Pick<IslandRecord, "hostId" | "lastSeenAtMs">>(
  record: R,
  { byId, isComplete }: Connections,
  suspensionReason: string | null,
  nowMs: number,
): ListedIsland<R> {
  const live = byId.get(record.hostId) ?? null;
  // The Island may be connected to a coordinator that did not reply.
  const mayBeConnected = !isComplete && record.lastSeenAtMs >= nowMs - SEEN_LATELY_MS;
  return {
    record: live === null ? record : { ...record, lastSeenAtMs: nowMs },
    status: suspensionReason === null ? statusOf(live, mayBeConnected) : "suspended",
    live,
    isLive: live !== null || isComplete,
    suspensionReason,
  };
}

function statusOf(live: LiveIsland | null, mayBeConnected: boolean): IslandStatus {
  if (live === null) return mayBeConnected ? "online" : "offline";
  if (live.isDraining) return "paused";
  return live.isQuarantined ? "quarantined" : "online";
}

export function nameOf({ name, hostName, hostId }: Pick<IslandRecord, "name" | "hostName" | "hostId">): string {
  return name ?? (hostName === null || hostName === "" ? `island-${hostId.slice(0, 8)}` : hostName);
}

function noIsland(hostId: string): ServiceError {
  return new ServiceError("not_found", `The account has no Island "${hostId}"; GET /api/v1/islands lists yours`);
}
