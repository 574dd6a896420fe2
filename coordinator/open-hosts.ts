import type { Clock } from "../shared/clock.ts";
import type { ClusterMember } from "./cluster/cluster-member.ts";
import { connectedIslands } from "./islands/connected-islands.ts";
import type { IslandRegistry } from "./islands/island-registry.ts";
import { IslandService } from "./islands/island-service.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import type { Store } from "./store/store.ts";

export interface OpenHostsDeps {
  readonly store: Pick<Store, "islands">;
  readonly islands: IslandRegistry;
  readonly scheduler: Pick<Scheduler, "quarantineOf">;
  /** Null for a coordinator that is alone. */
  readonly member: ClusterMember | null;
  readonly clock: Clock;
}

/** What hosts see of their Islands. */
export function openHosts({ store, islands, scheduler, member, clock }: OpenHostsDeps): IslandService {
  const here = connectedIslands(islands, (hostId) => scheduler.quarantineOf(hostId, clock.monotonicMs()) !== null);
  return new IslandService({ store, clock, here, elsewhere: member?.shareIslands(here) ?? null });
}
