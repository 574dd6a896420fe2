import type { Clock } from "../shared/clock.ts";
import { newId } from "../shared/ids.ts";
import type { ClusterMember } from "./cluster/cluster-member.ts";
import { AccountEvents } from "./events/account-events.ts";
import { watchDeeds } from "./events/watch-deeds.ts";
import { watchChanges, type WatchChangesDeps } from "./events/watch-changes.ts";
import type { Store } from "./store/store.ts";

export interface OpenEventsDeps extends Pick<WatchChangesDeps, "jobs" | "islands" | "dispatcher"> {
  readonly store: Pick<Store, "cluster" | "audit" | "operators">;
  /** Null for a coordinator that is alone. */
  readonly member: ClusterMember | null;
  readonly clock: Clock;
}

/** What accounts are told of as it changes. */
export function openEvents({ store, jobs, islands, dispatcher, member, clock }: OpenEventsDeps): AccountEvents {
  const events = new AccountEvents({ selfId: store.cluster?.selfId ?? newId("coord", clock.now()), clock });
  watchChanges({ events, jobs, islands, dispatcher, clock });
  watchDeeds({ events, audit: store.audit, operators: store.operators, clock });
  member?.shareEvents(events);
  return events;
}
