import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { until } from "../support/http/http.ts";

/** Resolves when the Island reports one more cancelled job and no running job. */
export function untilCancelled(status: () => Promise<AgentStatus>, before: AgentStatus): Promise<AgentStatus> {
  return until(
    status,
    ({ running, counts }) => running.length === 0 && counts.cancelled > before.counts.cancelled,
    "stopped",
  );
}
