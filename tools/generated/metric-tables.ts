import { openMetrics } from "../../coordinator/metrics/metrics.ts";
import { agentMetrics } from "../../island-agent/control/agent-metrics.ts";
import type { Metric } from "../../shared/metrics.ts";
import { NO_AGENT_STATUS } from "../../test/support/no-agent-status.ts";
import { NO_PARTS, SHARING_PARTS } from "../../test/support/no-parts.ts";

/** The metrics of this source tree by the name of their table: `<!-- metrics of island -->`. */
const TABLES: Readonly<Record<string, () => readonly Metric[]>> = {
  coordinator: () => openMetrics(NO_PARTS).metrics,
  cluster: () => {
    const ofOne = new Set(TABLES["coordinator"]?.().map(({ name }) => name));
    return openMetrics(SHARING_PARTS).metrics.filter(({ name }) => !ofOne.has(name));
  },
  island: () => agentMetrics(() => NO_AGENT_STATUS, "1").metrics,
};

/**
 * Replaces the tables between `<!-- metrics of … -->` and `<!-- end -->`.
 * @throws if a table is missing in the document.
 */
export function withMetricTables(document: string): string {
  return Object.entries(TABLES).reduce((text, [name, metrics]) => {
    const table = new RegExp(`(<!-- metrics of ${name} -->\n)[^]*?(?=<!-- end -->)`);
    if (!table.test(text)) throw new Error(`The document has no table "metrics of ${name}"`);
    return text.replace(table, (_, start: string) => start + tableOf(metrics()));
  }, document);
}

function tableOf(metrics: readonly Metric[]): string {
  const rows = metrics.map(
    ({ name, type, labelNames, help }) =>
      `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(", ")} | ${help} |\n`,
  );
  return `| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n${rows.join("")}`;
}
