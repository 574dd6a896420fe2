import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { until } from "../support/http/http.ts";
import { BusyNetwork } from "./busy-network.ts";
import { PrometheusServer } from "./prometheus-server.ts";
import { alertQueries, dashboardQueries } from "./queries.ts";

/** Metrics that a single coordinator does not have, or not within seconds. */
const MAY_BE_EMPTY = /moved|peer_requests|taken_over|nodejs_gc/;

it("Prometheus scrapes a coordinator with the shipped settings, and each panel shows data", async () => {
  await using network = await BusyNetwork.open();
  await using prometheus = await PrometheusServer.start(network.coordinator.url, network.token);
  const check = spawnSync("promtool", ["check", "config", "prometheus.yml"], { cwd: prometheus.directory });
  expect({ status: check.status, text: String(check.stderr) }).toMatchObject({ status: 0 });
  await until(
    () => prometheus.query("up == 1"),
    (rows) => rows?.length === 1,
    "the coordinator is up",
  );
  await network.work();
  const twice =
    "count_over_time(atoll_webhook_delivery_seconds_count[1m]) >= 4 and atoll_webhook_delivery_seconds_count > 0";
  await until(
    () => prometheus.query(twice),
    (rows) => rows?.length === 1,
    "the work was scraped",
  );
  await network.work();
  await until(
    () => prometheus.query("atoll_webhook_delivery_seconds_count == 2"),
    (rows) => rows?.length === 1,
    "more work was scraped",
  );
  const empty: string[] = [];
  for (const { source, expr } of dashboardQueries()) {
    // oxlint-disable-next-line no-await-in-loop -- in order, so that a failure names the panel
    const rows = await prometheus.query(expr);
    if (rows?.length === 0 && !MAY_BE_EMPTY.test(expr)) empty.push(`${source}: ${expr}`);
  }
  expect(empty).toEqual([]);
  await Promise.all(alertQueries().map(({ expr }) => prometheus.query(expr)));
  expect(await prometheus.query('ALERTS{alertstate="firing"}')).toEqual([]);
});
