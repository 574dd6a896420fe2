import { urlHost } from "../../shared/net/url-host.ts";
import { withoutPassword } from "../../shared/without-password.ts";
import { openBus } from "../bus/open-bus.ts";
import { assertCluster, busConnectionOf, storeLocationOf } from "../config/cluster-settings.ts";
import type { CoordinatorConfig } from "../config/resolve-config.ts";
import type { Env } from "../env.ts";
import { openStore } from "../store/open-store.ts";
import { retryWhileReadOnly } from "../store/retry-while-unavailable.ts";
import { unsharedCredentials, watchCredentials } from "./credential-watch.ts";
import { networkClock } from "./network-clock.ts";
import { openPeers } from "./peers.ts";
import { seenWork } from "./seen-work.ts";

export type Network = Awaited<ReturnType<typeof openNetwork>>;

/**
 * Opens what the coordinators of a network have in common. A single coordinator gets the same for a network of one: its own store, a bus in
 * this process, and no other peers. @throws {ConfigError}
 */
export async function openNetwork(env: Env<keyof CoordinatorConfig>) {
  const { config, log, version } = env;
  // Before anything is opened: a configuration that cannot be is told at once.
  assertCluster(config);
  const place = await storeLocationOf(config);
  const onReadOnly = (because: string | null): void => {
    if (because === null) return log.info({}, "Storage can be written again");
    log.error({ because }, "Nothing new is accepted: storage cannot be written. What runs is stored when it can be");
  };
  // It shows the machine's time until the database has given another.
  const clock = networkClock(env.clock);
  const { minFreeDiskBytes: minFreeBytes, leaseRenewMs, commandLine } = config;
  const shown = typeof place === "string" ? place : withoutPassword(place.address);
  const store = await retryWhileReadOnly(() => openStore(place, clock, { minFreeBytes, leaseRenewMs, onReadOnly }), {
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
  const { cluster } = store;
  const bus = await openBus(busConnectionOf(config), `atoll ${cluster.selfId}`, { clock, log }).catch(
    async (error: unknown) => {
      await store.close();
      throw error;
    },
  );
  const listens = config.peerUrl ?? `http://${urlHost(config.host)}:${config.port}`;
  const address = (cluster.isShared ? listens : config.publicUrl) ?? "";
  const peers = openPeers({ id: cluster.selfId, address, version }, bus, { clock, log });
  const learnTime = async (): Promise<void> => {
    if (cluster.isShared) await clock.set(() => cluster.nowMs());
  };
  await retryWhileReadOnly(learnTime, { clock, log });
  const credentials = cluster.isShared
    ? watchCredentials(cluster.credentialChanges, store.accounts, peers, clock)
    : unsharedCredentials(store.accounts, { clock, log });
  return {
    store,
    bus,
    peers,
    /** What the others said last of their work. */
    seen: seenWork(peers, clock),
    /** The clock of the network, which times in storage use. */
    clock,
    /** Changes of credentials by others. */
    credentials,
    /** Reads the time of the network again. */
    learnTime,
    /** Sets the address of the listener. Peers learn it with the next renewal of the lease. */
    setUrl(url: string): void {
      if (cluster.isShared) peers.setAddress(config.peerUrl ?? url);
    },
    /** Closes what every other part uses, which must be closed before. */
    async close(): Promise<void> {
      credentials.close();
      peers.close();
      await Promise.all([bus.close(), store.close()]);
    },
  };
}
