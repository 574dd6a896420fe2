import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openMetrics } from "../../coordinator/metrics/metrics.ts";
import { agentMetrics } from "../../island-agent/control/agent-metrics.ts";
import { ROOT } from "../../tools/generated/files.ts";
import { withMetricTables } from "../../tools/generated/metric-tables.ts";
import { NO_AGENT_STATUS } from "../support/no-agent-status.ts";
import { SHARING_PARTS } from "../support/no-parts.ts";

const MAX_CELL_CHARS = 200;
const EMPTY = ["coordinator", "cluster", "island"]
  .map((name) => `<!-- metrics of ${name} -->\n<!-- end -->\n`)
  .join("\n");
const rowsOf = (text: string) => [...text.matchAll(/^\| `(atoll_\w+)` \| (\w+) \| .* \| (.+) \|$/gm)];

describe("the generated tables of metrics", () => {
  it("list every metric of a scrape once, with its type", async () => {
    const coordinator = openMetrics(SHARING_PARTS);
    const agent = agentMetrics(() => NO_AGENT_STATUS, "1");
    const scrapes = await Promise.all([coordinator.read(), agent.read()]);
    const scraped = scrapes.flatMap((text) => [...text.matchAll(/^# TYPE (atoll_\w+) (\w+)$/gm)]);
    const line = ([, name, type]: RegExpExecArray) => `${name} ${type}`;
    expect(rowsOf(withMetricTables(EMPTY)).map(line).sort()).toEqual(scraped.map(line).sort());
  });

  it("contain no overlong cell", () => {
    const meanings = rowsOf(withMetricTables(EMPTY)).map(([, , , meaning = ""]) => meaning);
    expect(meanings.filter((meaning) => meaning.length > MAX_CELL_CHARS)).toEqual([]);
  });

  it("are in docs/operate/monitoring.md", async () => {
    const page = await readFile(join(ROOT, "docs", "operate", "monitoring.md"), "utf8");
    expect(rowsOf(page)).toHaveLength(rowsOf(withMetricTables(EMPTY)).length);
  });

  it("can be written only into a document with their marks", () => {
    expect(() => withMetricTables("# Monitoring\n")).toThrow('The document has no table "metrics of coordinator"');
  });
});
