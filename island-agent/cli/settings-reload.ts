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

export interface SettingsReloadDeps extends Omit<SettingSources, "file"> {
  readonly dataDirectory: string;
  /** As the agent started. */
  readonly config: AgentConfig;
  readonly agent: Pick<IslandAgent, "change">;
  readonly availability: Pick<Availability, "setHours">;
  readonly probes: Pick<RuntimeProbes, "replace">;
  readonly usage: Pick<UsageSampler, "setHardware">;
  readonly detect: (config: AgentConfig) => Promise<Hardware>;
  /** The runtimes as these settings have them, for what is loaded from now on. */
  readonly runtimesFor: (config: AgentConfig, hardware: Hardware) => Promise<readonly CargoRuntime[]>;
  readonly log: Pick<Logger, "info">;
}

/** Takes over changed settings while the agent runs. */
export class SettingsReload {
  readonly #deps: SettingsReloadDeps;
  #config: AgentConfig;
  /** The last change: each waits for the one before it. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(deps: SettingsReloadDeps) {
    this.#deps = deps;
    this.#config = deps.config;
  }

  /**
   * Reads the settings again and applies those that can be. Running jobs go on.
   * @param key the setting whose outcome is returned.
   * @throws {ConfigError} for an unknown key, or a file that is not valid; everything stays as it is then.
   */
  apply(key: string): Promise<SettingOutcome> {
    const applied = this.#work.then(() => this.#apply(key));
    this.#work = applied.catch(() => undefined);
    return applied;
  }

  async #apply(key: string): Promise<SettingOutcome> {
    const { dataDirectory, flags, env, log } = this.#deps;
    const sources = { flags, env, file: await readConfigFile(dataDirectory) };
    const { source } = getKey(sources, key);
    const config = withLiveSettings(this.#config, resolveAgentConfig(sources));
    if (!isDeepStrictEqual(config, this.#config)) {
      await this.#change(config);
      log.info({ slots: config.slots, hours: getKey(sources, "hours").shown }, "Settings applied");
    }
    if (source === "flag" || source === "environment") return "overridden";
    return LIVE_KEYS.has(key) ? "applied" : "next_start";
  }

  async #change(config: AgentConfig): Promise<void> {
    const { agent, availability, probes, usage, detect, runtimesFor } = this.#deps;
    const { hours, ...others } = config;
    const { hours: _before, ...othersBefore } = this.#config;
    if (!isDeepStrictEqual(others, othersBefore)) {
      const hardware = await detect(config);
      for (const runtime of await runtimesFor(config, hardware)) probes.replace(runtime);
      usage.setHardware(hardware);
      agent.change({ slots: config.slots, hardware });
    }
    availability.setHours(hours);
    this.#config = config;
  }
}
