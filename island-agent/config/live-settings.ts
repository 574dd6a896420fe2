import type { AgentConfig } from "./resolve-agent-config.ts";

/** Settings that a running agent takes over; the others count from its next start on. Threads and caps are those of models that are loaded later. */
export const LIVE_KEYS: ReadonlySet<string> = new Set([
  "slots",
  "threads",
  "hours",
  "caps.ram_gb",
  "caps.vram_gb",
  "caps.cpu_cores",
]);

/** The settings of `running` with the live ones of `read`. */
export function withLiveSettings(running: AgentConfig, read: AgentConfig): AgentConfig {
  const { slots, threads, hours, caps } = read;
  return { ...running, slots, threads, hours, caps };
}

/** What became of a changed setting in the running agent. `overridden`: a flag or variable of the agent wins over the file. */
export type SettingOutcome = "applied" | "next_start" | "overridden";
