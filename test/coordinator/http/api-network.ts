import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { CredentialWatch } from "../../../coordinator/cluster/credential-watch.ts";
import { networkQuota } from "../../../coordinator/cluster/network-quota.ts";
import type { CredentialChanges } from "../../../coordinator/store/accounts/credential-changes.ts";
import type { Clock } from "../../../shared/clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { peersOn } from "../cluster/peers-on.ts";

/** What one of several coordinators knows of the others. */
export interface ApiMember {
  readonly quota: ReturnType<typeof networkQuota>;
  readonly credentials: CredentialWatch;
}

/** Limits and credentials of several coordinators, over a bus in this process. */
export class ApiNetwork {
  readonly members: readonly ApiMember[];

  constructor(count: number, changes: CredentialChanges, clock: Clock) {
    const bus = new LocalBus();
    const ids = Array.from({ length: count }, (_, index) => `c${index}`);
    this.members = ids.map((id) => {
      const peers = peersOn(bus, id, ids);
      return {
        quota: networkQuota(peers, withoutTimers(clock)),
        // Nothing passes unheard on this bus: what was read is true until a peer tells of a change.
        credentials: new CredentialWatch(changes, peers, new ManualClock()),
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
