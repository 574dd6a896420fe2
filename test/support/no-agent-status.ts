import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";

/** Status of a connected agent without any activity. */
export const NO_AGENT_STATUS: AgentStatus = {
  link: "connected",
  coordinatorUrl: "http://127.0.0.1:8080",
  hostId: "host_1",
  closedBecause: null,
  quarantine: null,
  slots: 3,
  runtimes: [],
  loaded: [],
  memoryCaps: { ramBytes: 1_000, vramBytes: null },
  running: [],
  counts: { completed: 0, failed: 0, cancelled: 0, tokens: 0 },
  preload: null,
  reconnects: 0,
  lastProblem: null,
};
