import { WorkSharing } from "../../coordinator/cluster/work-sharing.ts";
import type { SchedulerEvent } from "../../coordinator/scheduler/events.ts";
import type { Sharing, SharingParts } from "./simulation.ts";

const log = { warn: (facts: unknown, message: string): void => console.warn(message, facts) };

/** How coordinators share, by name. */
export const SHARINGS: Readonly<Record<string, Sharing>> = {
  /** As coordinators do. */
  stealing: ({ cell, bus, clock, self, peers }: SharingParts): void => {
    const members = { self, living: peers, onChange: () => () => undefined };
    const mover = {
      handOver: (jobIds: readonly string[], toId: string) => cell.handOver(jobIds, toId),
      takeIn: async (jobIds: readonly string[]) => {
        await cell.takeIn(jobIds);
        return jobIds.length;
      },
      // Every answer comes here.
      reconcile: () => Promise.resolve(),
    };
    // A coordinator alone has nobody to tell anything.
    if (peers.length === 1) return;
    const schedule = (event: SchedulerEvent): void => cell.step(event);
    void new WorkSharing({ bus, members, mover, work: cell.scheduler.shared, schedule, clock, log });
  },
  none: () => undefined,
};
