import { openPeers } from "../../coordinator/cluster/peers.ts";
import { shareWork } from "../../coordinator/cluster/work-sharing.ts";
import type { SchedulerEvent } from "../../coordinator/scheduler/events.ts";
import type { Sharing, SharingParts } from "./simulation.ts";

const log = { warn: (facts: unknown, message: string): void => console.warn(message, facts) };

/** Ways in which coordinators share jobs, by name. */
export const SHARINGS: Readonly<Record<string, Sharing>> = {
  /** Work stealing, as real coordinators do it. */
  stealing: ({ cell, bus, clock, self, peers: live }: SharingParts): void => {
    const mover = {
      transfer: (jobIds: readonly string[], toId: string) => cell.transfer(jobIds, toId),
      adopt: async (jobIds: readonly string[]) => {
        await cell.adopt(jobIds);
        return jobIds.length;
      },
      // All replies arrive here.
      reconcile: () => Promise.resolve(),
    };
    // A single coordinator has no peers to publish to.
    if (live.length === 1) return;
    const schedule = (event: SchedulerEvent): void => cell.step(event);
    const peers = openPeers(self, bus, { clock, log });
    peers.setLive(live);
    shareWork(peers, mover, cell.scheduler.shared, schedule, { clock, log });
  },
  none: () => undefined,
};
