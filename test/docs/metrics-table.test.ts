import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openMetrics } from "../../coordinator/metrics/metrics.ts";
import { agentMetrics } from "../../island-agent/control/agent-metrics.ts";
import { NO_AGENT_STATUS } from "../support/no-agent-status.ts";
import { SHARING_PARTS } from "../support/no-parts.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "metrics.md"), "utf8");

it("docs/metrics.md has every metric of a coordinator and of an Island, with its type, and no other", async () => {
  const coordinator = openMetrics(SHARING_PARTS);
  const agent = agentMetrics(() => NO_AGENT_STATUS, "1");
  const texts = await Promise.all([coordinator.read(), agent.read()]);
  const types = texts.flatMap((text) => [...text.matchAll(/^# TYPE (atoll_\w+) (\w+)$/gm)]);
  const rows = [...page.matchAll(/^\| `(atoll_\w+)(?:\{[\w,]+\})?` \| (\w+) \|/gm)];
  const line = ([, name, type]: RegExpExecArray | RegExpMatchArray) => `${name} ${type}`;
  expect(rows.map(line).sort()).toEqual(types.map(line).sort());
});
