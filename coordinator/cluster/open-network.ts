import { withoutPassword } from "../../shared/without-password.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Bus } from "../bus/bus.ts";
import { openBus } from "../bus/open-bus.ts";
import { assertCluster, busPlaceOf, storePlaceOf } from "../config/cluster-settings.ts";
import type { CoordinatorConfig } from "../config/resolve-config.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { untilStored } from "../store/until-stored.ts";

/** Opens what the coordinators of a network have in common, or what one that is alone has instead. @throws {ConfigError} */
export async function openNetwork(
  config: CoordinatorConfig,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<{ store: Store; bus: Bus }> {
  // Before anything is opened: a configuration that cannot be is told at once.
  assertCluster(config);
  const place = await storePlaceOf(config);
  const onReadOnly = (because: string | null): void => {
    if (because === null) return log.info({}, "Storage can be written again");
    log.error({ because }, "Nothing new is accepted: storage cannot be written. What runs is stored when it can be");
  };
  const { minFreeDiskBytes: minFreeBytes, leaseRenewMs, commandLine } = config;
  const shown = typeof place === "string" ? place : withoutPassword(place.address);
  const waiting = { clock, log, store: shown };
  const store = await untilStored(() => openStore(place, clock, { minFreeBytes, leaseRenewMs, onReadOnly }), waiting);
  if (!store.content.canReclaim) {
    log.info(
      {},
      `The database file does not shrink: it was made by an older version. Stop the coordinator and run once: ${commandLine("vacuum")}`,
    );
  }
  const name = store.cluster === null ? "atoll" : `atoll ${store.cluster.selfId}`;
  return { store, bus: await openBus(busPlaceOf(config), name, { clock, log }) };
}
