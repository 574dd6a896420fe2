import { beforeAll, describe, expect, it } from "vitest";
import { openMetrics } from "../../coordinator/metrics/metrics.ts";
import { SHARING_PARTS } from "../support/no-parts.ts";
import { BusyNetwork } from "./busy-network.ts";
import { alertQueries, dashboardQueries, labelsIn, metricsIn, seriesOf } from "./queries.ts";

/** Labels that Prometheus adds. */
const OF_PROMETHEUS = ["job", "instance"];

let scrape: string;
let known: ReadonlyMap<string, ReadonlySet<string>>;

beforeAll(async () => {
  await using network = await BusyNetwork.open();
  await network.work();
  scrape = await network.scrape();
  const ofSeveral = await openMetrics(SHARING_PARTS).read();
  known = new Map([...seriesOf(ofSeveral), ...seriesOf(scrape), ["up", new Set<string>()]]);
});

describe("the metrics of a busy coordinator", () => {
  it.each([
    'atoll_islands{runtime="llmcpp"} 1',
    'atoll_slots{state="free"} 1',
    'atoll_job_outcomes_total{state="completed",code="none"} 2',
    'atoll_job_outcomes_total{state="failed",code="invalid_input"} 1',
    "atoll_attempts_begun_total 4",
    'atoll_attempts_ended_total{outcome="refused",code="island_refused"} 1',
    'atoll_attempts_ended_total{outcome="completed",code="none"} 2',
    'atoll_attempts_ended_total{outcome="failed",code="invalid_input"} 1',
    "atoll_tokens_relayed_total 3",
    "atoll_tokens_delivered_total 3",
    "atoll_prompt_tokens_total 10",
    'atoll_frames_total{direction="received",type="output"} 2',
    'atoll_frames_total{direction="sent",type="assign"} 4',
    'atoll_http_requests_total{method="POST",route="/api/v1/jobs",status="201"} 2',
    'atoll_http_requests_total{method="GET",route="/api/v1/jobs/:id/stream",status="200"} 1',
    'atoll_http_requests_total{method="GET",route="/api/v1/jobs/:id",status="404"} 1',
    'atoll_http_refusals_total{code="not_found"} 1',
    'atoll_session_refusals_total{code="unauthenticated"} 1',
    'atoll_http_request_seconds_count{method="POST",route="/api/v1/jobs"} 2',
    'atoll_job_assign_seconds_count{class="batch"} 2',
    'atoll_job_first_output_seconds_count{class="batch"} 1',
    'atoll_job_first_output_seconds_count{class="chat"} 1',
    'atoll_job_run_seconds_count{cargo="tiny-chat"} 2',
    'atoll_cargo_jobs_ended_total{cargo="tiny-chat",state="completed"} 2',
    'atoll_webhook_attempts_total{result="delivered"} 1',
    "atoll_webhook_delivery_seconds_count 1",
    "atoll_storage_read_only 0",
    "atoll_streams 0",
  ])("%s", (line) => {
    expect(scrape.split("\n")).toContain(line);
  });

  it("include charges, earnings, commission and the process", () => {
    const valueOf = (name: string) => Number(new RegExp(`^${name} (.+)$`, "m").exec(scrape)?.[1]);
    const [charged = 0, earned = 0, fee = 0] = ["charged", "earned", "fee"].map((kind) =>
      valueOf(`atoll_credits_total\\{kind="${kind}"\\}`),
    );
    expect(charged).toBeGreaterThan(0);
    expect(earned + fee).toBeCloseTo(charged, 6);
    expect(valueOf("process_resident_memory_bytes")).toBeGreaterThan(0);
    expect(scrape).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  });

  it("contain no ids of accounts, jobs or Islands", () => {
    expect(scrape).not.toMatch(/(user|job|key)_[0-9A-Z]{26}|[\da-f]{8}-[\da-f]{4}-/);
  });
});

describe("deploy/grafana/atoll.json and deploy/prometheus/alerts.yml", () => {
  const queries = [...dashboardQueries(), ...alertQueries()];

  it("query only existing metrics", () => {
    expect(queries.length).toBeGreaterThan(50);
    const unknown = queries.flatMap((query) => metricsIn(query).filter((name) => !known.has(name)));
    expect(unknown).toEqual([]);
    expect(queries.filter((query) => metricsIn(query).length === 0)).toEqual([]);
  });

  it("query only existing labels of these metrics", () => {
    const unknown = queries.flatMap((query) => {
      const labels = new Set([...OF_PROMETHEUS, ...metricsIn(query).flatMap((name) => [...(known.get(name) ?? [])])]);
      return labelsIn(query).flatMap((label) => (labels.has(label) ? [] : `${query.source}: ${label}`));
    });
    expect(unknown).toEqual([]);
  });
});
