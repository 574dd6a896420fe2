import { isDeepStrictEqual } from "node:util";
import type { Hardware } from "../../shared/hardware.ts";
import type { Logger } from "../../shared/logger.ts";
import type { SettingSources } from "../../shared/settings.ts";
import type { IslandAgent } from "../agent.ts";
import type { Availability } from "../availability/availability.ts";
import { readConfigFile } from "../config/config-file.ts";
import { LIVE_KEYS, withLiveSettings, type SettingOutcome } from "../config/live-settings.ts";
import { getKey, resolveAgentConfig, type AgentConfig } from "../config/resolve-agent-config.ts";
import type { UsageSampler } from "../hardware/usage.ts";
import type { Engines } from "../runtimes/engine/engines.ts";
import type { CargoRuntime } from "../runtimes/runtime.ts";
import type { RuntimeProbes } from "../runtimes/runtime-probes.ts";

interface ReloadOptions extends Omit<SettingSources, "file"> {
  readonly dataDirectory: string;
  /** Settings with which the agent started. */
  readonly config: AgentConfig;
  readonly agent: Pick<IslandAgent, "change">;
  readonly availability: Pick<Availability, "setHours">;
  readonly engines: Pick<Engines, "replace">;
  readonly probes: Pick<RuntimeProbes, "replace">;
  readonly usage: Pick<UsageSampler, "setHardware">;
  readonly detect: (config: AgentConfig) => Promise<Hardware>;
  /** Returns the runtimes for these settings, used for later loads. */
  readonly runtimesFor: (config: AgentConfig, hardware: Hardware) => Promise<readonly CargoRuntime[]>;
  readonly log: Pick<Logger, "info">;
}

/**
 * Reads the settings again and applies those that can change at run time. Running jobs continue.
 * @param key The setting whose outcome is returned.
 * @throws {ConfigError} for an unknown key, or an invalid file; {@link CliError} for an engine on another machine that
 * the owner has not allowed. Nothing changes then.
 */
export type ApplySettings = (key: string) => Promise<SettingOutcome>;

/** Applies changed settings while the agent runs. */
export function settingsReload(options: ReloadOptions): ApplySettings {
  let { config } = options;
  /** The most recent change. Each change waits for the previous one. */
  let work: Promise<unknown> = Promise.resolve();

  async function applyNow(key: string): Promise<SettingOutcome> {
    const { flags, env, dataDirectory } = options;
    const sources = { flags, env, file: await readConfigFile(dataDirectory) };
    const { source } = getKey(sources, key);
    const changed = withLiveSettings(config, resolveAgentConfig(sources));
    if (!isDeepStrictEqual(changed, config)) {
      await change(changed);
      options.log.info({ slots: changed.slots, hours: getKey(sources, "hours").shown }, "Applied changed settings");
    }
    if (source === "flag" || source === "environment") return "overridden";
    return LIVE_KEYS.has(key) ? "applied" : "next_start";
  }

  async function change(changed: AgentConfig): Promise<void> {
    const { hours, engines, ...others } = changed;
    const { hours: _hours, engines: _engines, ...othersBefore } = config;
    options.engines.replace(engines);
    if (!isDeepStrictEqual(others, othersBefore)) {
      const hardware = await options.detect(changed);
      for (const runtime of await options.runtimesFor(changed, hardware)) options.probes.replace(runtime);
      options.usage.setHardware(hardware);
      options.agent.change({ slots: changed.slots, hardware });
    }
    options.availability.setHours(hours);
    config = changed;
  }

  return (key) => {
    const applied = work.then(() => applyNow(key));
    work = applied.catch(() => undefined);
    return applied;
  };
}
