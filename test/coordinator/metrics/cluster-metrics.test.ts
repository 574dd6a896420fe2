import { describe, expect, it } from "vitest";
import type { JobRegistryEvent } from "../../../coordinator/jobs/job-registry-events.ts";
import { openMetrics, type MeasuredParts } from "../../../coordinator/metrics/metrics.ts";
import { NO_PARTS, SHARING_PARTS } from "../../support/no-parts.ts";

const COUNTS = { stolen: 5, handedOver: 4, adopted: 3, claimed: 2, reaped: 1 };

function metricsOf(parts: MeasuredParts) {
  const listeners: ((event: JobRegistryEvent) => void)[] = [];
  const metrics = openMetrics({
    ...parts,
    jobs: { ...NO_PARTS.jobs, subscribe: (listener) => void listeners.push(listener) },
  });
  const tell = (event: Partial<JobRegistryEvent>) =>
    listeners.forEach((listener) => listener(event as JobRegistryEvent));
  return { metrics, tell };
}

describe("the metrics of a coordinator in a cluster", () => {
  it("count jobs that arrived and left, dead coordinators, and failed requests", async () => {
    const peers = { failed: { unreachable: 1, timeout: 0, refused: 2 } };
    const { metrics, tell } = metricsOf({ ...SHARING_PARTS, member: { counts: COUNTS }, peers });
    tell({ type: "job_dropped" });
    await metrics.read();
    const lines = (await metrics.read()).split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        'atoll_jobs_moved_here_total{how="stolen"} 5',
        'atoll_jobs_moved_here_total{how="handed_over"} 4',
        'atoll_jobs_moved_here_total{how="adopted"} 3',
        'atoll_jobs_moved_here_total{how="claimed"} 2',
        "atoll_jobs_moved_away_total 1",
        "atoll_coordinators_taken_over_total 1",
        'atoll_peer_requests_failed_total{reason="refused"} 2',
        'atoll_peer_requests_failed_total{reason="unreachable"} 1',
        'atoll_peer_requests_failed_total{reason="timeout"} 0',
      ]),
    );
  });

  it("are absent for a single coordinator", async () => {
    const { metrics } = metricsOf(NO_PARTS);
    expect(await metrics.read()).not.toMatch(/moved|taken_over|peer/);
  });
});
