import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import {
  unsharedCredentials,
  watchCredentials,
  type CredentialWatch,
} from "../../../coordinator/cluster/credential-watch.ts";
import { networkQuota } from "../../../coordinator/cluster/network-quota.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import type { Clock } from "../../../shared/clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { peersOn } from "../cluster/peers-on.ts";

/** What a coordinator knows of the network. */
export interface ApiMember {
  readonly quota: ReturnType<typeof networkQuota>;
  readonly credentials: CredentialWatch;
}

/** Limits and credentials of the coordinators of a network, over a bus in this process. */
export class ApiNetwork {
  readonly members: readonly [ApiMember, ...ApiMember[]];

  constructor(count: number, { accounts, cluster }: Pick<Store, "accounts" | "cluster">, clock: Clock) {
    const bus = new LocalBus();
    const ids = Array.from({ length: count }, (_, index) => `c${index}`);
    const open = (id: string): ApiMember => {
      const peers = peersOn(bus, id, ids);
      return {
        quota: networkQuota(peers, withoutTimers(clock)),
        // Nothing passes unheard on this bus: what was read is true until a peer tells of a change.
        credentials:
          count > 1 && cluster.isShared
            ? watchCredentials(cluster.credentialChanges, accounts, peers, new ManualClock())
            : unsharedCredentials(accounts),
      };
    };
    this.members = [open("c0"), ...ids.slice(1).map(open)];
  }

  close(): void {
    for (const { quota, credentials } of this.members) {
      quota.close();
      credentials.close();
    }
  }
}

/** The timers are for messages that were lost. Tests count those of the API. */
function withoutTimers(clock: Clock): Clock {
  const still = new ManualClock();
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    schedule: (ms, callback) => still.schedule(ms, callback),
    sleep: (ms, signal) => still.sleep(ms, signal),
  };
}
