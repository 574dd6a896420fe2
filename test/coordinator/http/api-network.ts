import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { CredentialWatch } from "../../../coordinator/cluster/credential-watch.ts";
import { NetworkQuota } from "../../../coordinator/cluster/network-quota.ts";
import type { Peer } from "../../../coordinator/store/cluster-store.ts";
import type { CredentialChanges } from "../../../coordinator/store/credential-changes.ts";
import type { Clock } from "../../../shared/clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";

/** What one of several coordinators knows of the others. */
export interface ApiMember {
  readonly quota: NetworkQuota;
  readonly credentials: CredentialWatch;
}

/** Limits and credentials of several coordinators, over a bus in this process. */
export class ApiNetwork {
  readonly members: readonly ApiMember[];

  constructor(count: number, changes: CredentialChanges, clock: Clock) {
    const bus = new LocalBus();
    const living = Array.from({ length: count }, (_, index): Peer => ({ id: `c${index}`, address: "", version: "1" }));
    this.members = living.map((self) => ({
      quota: new NetworkQuota({
        members: { self, living, onChange: () => () => undefined },
        bus,
        clock: withoutTimers(clock),
      }),
      // Nothing passes unheard on this bus: what was read is true until somebody tells of a change.
      credentials: new CredentialWatch({ changes, bus, clock: new ManualClock(), log: { warn: () => undefined } }),
    }));
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
