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
 * Opens the store, the bus and the clock that the coordinators of a network share. A single coordinator gets its own
 * store, an in-process bus and no peers.
 * @throws {ConfigError}
 */
export async function openNetwork(env: Env<keyof CoordinatorConfig>) {
  const { config, log, version } = env;
  // Report an invalid configuration at once.
  assertCluster(config);
  const location = await storeLocationOf(config);
  const onReadOnly = (reason: string | null): void => {
    if (reason === null) return log.info({}, "Storage is writable again");
    log.error(
      { reason },
      "Storage is read-only: nothing new is accepted, and results of running jobs are stored once it is writable",
    );
  };
  const clock = networkClock(env.clock);
  const { minFreeDiskBytes: minFreeBytes, leaseRenewMs, commandLine } = config;
  const store = await retryWhileReadOnly(() => openStore(location, clock, { minFreeBytes, leaseRenewMs, onReadOnly }), {
    clock,
    log,
    store: typeof location === "string" ? location : withoutPassword(location.address),
  });
  if (!store.content.canReclaim) {
    log.info(
      {},
      `The database file cannot shrink because an older version created it. Stop the coordinator and run once: ${commandLine("vacuum")}`,
    );
  }
  const { cluster } = store;
  const bus = await openBus(busConnectionOf(config), `atoll ${cluster.selfId}`, { clock, log }).catch(
    async (error: unknown) => {
      await store.close();
      throw error;
    },
  );
  const ownUrl = config.peerUrl ?? `http://${urlHost(config.host)}:${config.port}`;
  const address = (cluster.isShared ? ownUrl : config.publicUrl) ?? "";
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
    /** Work of the other coordinators according to their last status. */
    seen: seenWork(peers, clock),
    /** Clock of the network, used for times in storage. */
    clock,
    credentials,
    learnTime,
    /** Sets the address of the listener. Peers learn it with the next lease renewal. */
    setUrl(url: string): void {
      if (cluster.isShared) peers.setAddress(config.peerUrl ?? url);
    },
    /** Closes the store, the bus and the peers. All parts that use them must be closed. */
    async close(): Promise<void> {
      credentials.close();
      peers.close();
      await Promise.all([bus.close(), store.close()]);
    },
  };
}
