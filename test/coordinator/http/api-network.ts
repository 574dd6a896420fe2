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
import { testEnv } from "../../support/test-env.ts";
import { peersOn } from "../cluster/peers-on.ts";

/** A coordinator's view of its network. */
export interface ApiMember {
  readonly quota: ReturnType<typeof networkQuota>;
  readonly credentials: CredentialWatch;
}

/** Opens limits and credentials of one or several coordinators, over a bus in this process. */
export class ApiNetwork {
  readonly members: readonly ApiMember[];

  constructor(count: number, { accounts, cluster }: Pick<Store, "accounts" | "cluster">, clock: Clock) {
    const bus = new LocalBus();
    const ids = Array.from({ length: count }, (_, index) => `c${index}`);
    this.members = ids.map((id) => {
      const peers = peersOn(bus, id, ids);
      // This bus loses no message, so a value stays valid until a peer reports a change.
      const still = new ManualClock();
      return {
        quota: networkQuota(peers, withoutTimers(clock)),
        credentials:
          count === 1 || !cluster.isShared
            ? unsharedCredentials(accounts, { clock: still, log: testEnv().log })
            : watchCredentials(cluster.credentialChanges, accounts, peers, still),
      };
    });
  }

  close(): void {
    for (const { quota, credentials } of this.members) {
      quota.close();
      credentials.close();
    }
  }
}

/** These timers only handle lost messages. Tests count the timers of the API. */
function withoutTimers(clock: Clock): Clock {
  const still = new ManualClock();
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    schedule: (ms, callback) => still.schedule(ms, callback),
    sleep: (ms, signal) => still.sleep(ms, signal),
  };
}
