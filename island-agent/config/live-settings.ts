import type { AgentConfig } from "./resolve-agent-config.ts";

/**
 * Settings that a running agent applies. The others require a restart. Threads and caps apply to models loaded later.
 */
export const LIVE_KEYS: ReadonlySet<string> = new Set([
  "slots",
  "threads",
  "hours",
  "caps.ram_gb",
  "caps.vram_gb",
  "caps.cpu_cores",
  "engines.urls",
  "engines.api_key",
  "engines.slots",
  "engines.allow_remote",
]);

/** Returns the settings of `running` with the live ones of `read`. */
export function withLiveSettings(running: AgentConfig, read: AgentConfig): AgentConfig {
  const { slots, threads, hours, caps, engines } = read;
  return { ...running, slots, threads, hours, caps, engines };
}

/** Outcome of a changed setting in the running agent. `overridden`: a flag or variable of the agent wins. */
export type SettingOutcome = "applied" | "next_start" | "overridden";
