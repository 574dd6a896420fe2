import type * as Prometheus from "prom-client";
import type { BusError } from "../bus/bus.ts";
import type { TakenOver } from "../store/cluster-store.ts";

/** What is counted of a coordinator that has others beside it. */
export interface ClusterFigures {
  readonly member: {
    /** Jobs that came here, by how, and coordinators that this one removed. */
    readonly counts: TakenOver & { readonly stolen: number; readonly handedOver: number };
  };
  /** Questions that got no reply. */
  readonly peers: { readonly failed: Readonly<Record<BusError["kind"], number>> };
  /** Jobs that other coordinators have by now. */
  readonly movedAway: () => number;
}

/** Metrics of one coordinator of several. */
export function clusterMetrics({ Counter }: typeof Prometheus, figures: ClusterFigures): readonly Prometheus.Metric[] {
  const { member, peers, movedAway } = figures;
  return [
    new Counter({
      name: "atoll_jobs_moved_here_total",
      help: "Unfinished jobs that came from other coordinators since the coordinator started",
      labelNames: ["how"],
      registers: [],
      collect() {
        const { stolen, handedOver, adopted, claimed } = member.counts;
        this.reset();
        for (const [how, count] of Object.entries({ stolen, handed_over: handedOver, adopted, claimed }))
          this.inc({ how }, count);
      },
    }),
    new Counter({
      name: "atoll_jobs_moved_away_total",
      help: "Unfinished jobs that went to other coordinators since the coordinator started",
      registers: [],
      collect() {
        this.reset();
        this.inc(movedAway());
      },
    }),
    new Counter({
      name: "atoll_coordinators_taken_over_total",
      help: "Dead coordinators whose lease this one ended since it started",
      registers: [],
      collect() {
        this.reset();
        this.inc(member.counts.reaped);
      },
    }),
    new Counter({
      name: "atoll_peer_requests_failed_total",
      help: "Requests to other coordinators without an answer, or refused, since the coordinator started",
      labelNames: ["reason"],
      registers: [],
      collect() {
        this.reset();
        for (const [reason, count] of Object.entries(peers.failed)) this.inc({ reason }, count);
      },
    }),
  ];
}
