import type { CloseLimit } from "../../shared/async/close-limit.ts";
import { newId } from "../../shared/ids.ts";
import { urlHost } from "../../shared/net/url-host.ts";
import { withoutPassword } from "../../shared/without-password.ts";
import { openBus } from "../bus/open-bus.ts";
import { assertCluster, busPlaceOf, storePlaceOf } from "../config/cluster-settings.ts";
import type { CoordinatorConfig } from "../config/resolve-config.ts";
import type { Env } from "../env.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import { openStore } from "../store/open-store.ts";
import { untilStored } from "../store/until-stored.ts";
import { unsharedCredentials, watchCredentials } from "./credential-watch.ts";
import { networkClock } from "./network-clock.ts";
import { openPeers } from "./peers.ts";

/** What a coordinator knows by storage of its network: who lives, and whose an unfinished job is. */
export type Cluster = Omit<ClusterStore, "credentialChanges" | "places">;

export type Network = Awaited<ReturnType<typeof openNetwork>>;

/**
 * Opens what the coordinators of a network have in common. One that is alone has the same of a network of one: its store, a bus that reaches
 * nobody, and no others. @throws {ConfigError}
 */
export async function openNetwork(env: Env<keyof CoordinatorConfig>) {
  const { config, log, version } = env;
  // Before anything is opened: a configuration that cannot be is told at once.
  assertCluster(config);
  const place = await storePlaceOf(config);
  const onReadOnly = (because: string | null): void => {
    if (because === null) return log.info({}, "Storage can be written again");
    log.error({ because }, "Nothing new is accepted: storage cannot be written. What runs is stored when it can be");
  };
  // That of the machine until the database says another time.
  const clock = networkClock(env.clock);
  const { minFreeDiskBytes: minFreeBytes, leaseRenewMs, commandLine } = config;
  const shown = typeof place === "string" ? place : withoutPassword(place.address);
  const store = await untilStored(() => openStore(place, clock, { minFreeBytes, leaseRenewMs, onReadOnly }), {
    clock,
    log,
    store: shown,
  });
  if (!store.content.canReclaim) {
    log.info(
      {},
      `The database file does not shrink: it was made by an older version. Stop the coordinator and run once: ${commandLine("vacuum")}`,
    );
  }
  const shared = store.cluster;
  const cluster = shared ?? networkOfOne(newId("coord", clock.now()), clock);
  const bus = await openBus(busPlaceOf(config), shared === null ? "atoll" : `atoll ${shared.selfId}`, { clock, log });
  const listens = config.peerUrl ?? `http://${urlHost(config.host)}:${config.port}`;
  const address = (shared === null ? config.publicUrl : listens) ?? "";
  const peers = openPeers({ id: cluster.selfId, address, version }, bus, { clock, log });
  const learnTime = async (): Promise<void> => {
    if (shared !== null) await clock.set(() => shared.nowMs());
  };
  await untilStored(learnTime, { clock, log });
  const credentials =
    shared === null ? unsharedCredentials(store.accounts) : watchCredentials(shared.credentialChanges, peers, clock);
  return {
    store,
    cluster,
    bus,
    peers,
    /** That of the network: times in storage are by it. */
    clock,
    /** What is known of credentials that others change. */
    credentials,
    /** Whether other coordinators may use the same storage. */
    isShared: shared !== null,
    /** Reads the time of the network again. */
    learnTime,
    /** The coordinator listens at that address. Peers learn it with the next renewal of the lease. */
    setUrl(url: string): void {
      if (shared !== null) peers.setAddress(config.peerUrl ?? url);
    },
    /** After all that uses it. Works that take longer than `limit` are not waited for. */
    async close(limit: CloseLimit): Promise<void> {
      credentials.close();
      peers.close();
      await limit.within(bus.close());
      await limit.within(store.close());
    },
  };
}

/** A network of one. Every unfinished job is in its coordinator's memory, so that storage is not asked, and nobody waits for a lease. */
export function networkOfOne(selfId: string, clock: { now(): number }): Cluster {
  let sessions = 0;
  return {
    selfId,
    takenOver: { adopted: 0, claimed: 0, reaped: 0 },
    islandSessions: { nextNumber: async () => (sessions += 1) },
    renew: async () => true,
    peers: async () => [],
    reap: async () => 0,
    adopt: async () => [],
    leave: async () => undefined,
    transfer: async () => [],
    claim: async () => undefined,
    owned: async () => [],
    ownedIds: async () => [],
    ownerOf: async () => undefined,
    ownersOf: async () => new Map(),
    nowMs: async () => clock.now(),
    onReturn: () => () => undefined,
  };
}
