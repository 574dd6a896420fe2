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
import type { CargoRuntime } from "../runtimes/runtime.ts";
import type { RuntimeProbes } from "../runtimes/runtime-probes.ts";

/** Takes over changed settings while the agent runs. */
export function openSettingsReload({
  dataDirectory,
  flags,
  env,
  config,
  agent,
  availability,
  probes,
  usage,
  detect,
  runtimesFor,
  log,
}: Omit<SettingSources, "file"> & {
  readonly dataDirectory: string;
  /** As the agent started. */
  config: AgentConfig;
  readonly agent: Pick<IslandAgent, "change">;
  readonly availability: Pick<Availability, "setHours">;
  readonly probes: Pick<RuntimeProbes, "replace">;
  readonly usage: Pick<UsageSampler, "setHardware">;
  readonly detect: (config: AgentConfig) => Promise<Hardware>;
  /** The runtimes as these settings have them, for what is loaded from now on. */
  readonly runtimesFor: (config: AgentConfig, hardware: Hardware) => Promise<readonly CargoRuntime[]>;
  readonly log: Pick<Logger, "info">;
}) {
  /** The last change: each waits for the one before it. */
  let work: Promise<unknown> = Promise.resolve();

  /**
   * Reads the settings again and applies those that can be. Running jobs go on.
   * @param key the setting whose outcome is returned.
   * @throws {ConfigError} for an unknown key, or a file that is not valid; everything stays as it is then.
   */
  function apply(key: string): Promise<SettingOutcome> {
    const applied = work.then(() => applyNow(key));
    work = applied.catch(() => undefined);
    return applied;
  }

  async function applyNow(key: string): Promise<SettingOutcome> {
    const sources = { flags, env, file: await readConfigFile(dataDirectory) };
    const { source } = getKey(sources, key);
    const changed = withLiveSettings(config, resolveAgentConfig(sources));
    if (!isDeepStrictEqual(changed, config)) {
      await change(changed);
      log.info({ slots: changed.slots, hours: getKey(sources, "hours").shown }, "Applied changed settings");
    }
    if (source === "flag" || source === "environment") return "overridden";
    return LIVE_KEYS.has(key) ? "applied" : "next_start";
  }

  async function change(changed: AgentConfig): Promise<void> {
    const { hours, ...others } = changed;
    const { hours: _before, ...othersBefore } = config;
    if (!isDeepStrictEqual(others, othersBefore)) {
      const hardware = await detect(changed);
      for (const runtime of await runtimesFor(changed, hardware)) probes.replace(runtime);
      usage.setHardware(hardware);
      agent.change({ slots: changed.slots, hardware });
    }
    availability.setHours(hours);
    config = changed;
  }

  return { apply };
}

export type SettingsReload = ReturnType<typeof openSettingsReload>;
