import type { Logger } from "pino";
import type { Clock } from "../shared/clock.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { ClusterMember } from "./cluster/cluster-member.ts";
import type { AccountEvents } from "./events/account-events.ts";
import { CargoAvailability } from "./islands/cargo-availability.ts";
import { connectedIslands } from "./islands/connected-islands.ts";
import type { IslandRegistry } from "./islands/island-registry.ts";
import { HostFigures } from "./metrics/host-figures.ts";
import { IslandService } from "./islands/island-service.ts";
import type { SuspendedIslands } from "./islands/suspended-islands.ts";
import type { JobRegistry } from "./jobs/job-registry.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import type { Store } from "./store/store.ts";

export interface OpenHostsDeps {
  readonly store: Pick<Store, "islands" | "hostFigures" | "usage">;
  readonly jobs: JobRegistry;
  readonly islands: IslandRegistry;
  readonly catalog: Catalog;
  readonly scheduler: Pick<Scheduler, "quarantineOf">;
  readonly suspended: SuspendedIslands;
  /** Null for a coordinator that is alone. */
  readonly member: ClusterMember | null;
  readonly events: AccountEvents;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What hosts see of their Islands. Call it before the first Island is let in. */
export function openHosts(deps: OpenHostsDeps): {
  readonly service: IslandService;
  readonly figures: HostFigures;
  readonly availability: CargoAvailability;
} {
  const { store, jobs, islands, catalog, scheduler, member, events, suspended, clock } = deps;
  const isQuarantined = (hostId: string): boolean => scheduler.quarantineOf(hostId, clock.monotonicMs()) !== null;
  const here = connectedIslands(islands, { isQuarantined, jobs });
  const elsewhere = member?.shareIslands(here, (accountId) => availability.here(accountId)) ?? null;
  const availability: CargoAvailability = new CargoAvailability({
    ...{ islands, catalog, clock },
    askOthers: async (accountId) => (await elsewhere?.availability(accountId)) ?? [],
  });
  const onChanged = (accountId: string, id: string): void => events.note(accountId, { type: "island", id });
  const service = new IslandService({ store, clock, here, elsewhere, onChanged, suspended });
  return { service, figures: new HostFigures(deps), availability };
}
