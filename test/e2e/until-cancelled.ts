import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { until } from "../support/http/http.ts";

/** Resolves once the Island says that one more job was cancelled and none runs. */
export function untilCancelled(status: () => Promise<AgentStatus>, before: AgentStatus): Promise<AgentStatus> {
  return until(
    status,
    ({ running, counts }) => running.length === 0 && counts.cancelled > before.counts.cancelled,
    "stopped",
  );
}
