import type { LogFormat } from "../../shared/cli/log-settings.ts";
import type { LogLevel } from "../../shared/logger.ts";
import {
  describeSettings,
  resolveSettings,
  unknownKey,
  ConfigError,
  type ResolvedSetting,
  type Setting,
  type SettingSources,
} from "../../shared/settings.ts";
import { describeUnknown, misprefixedVariables, unknownVariables } from "../../shared/cli/unknown-variables.ts";
import { DEFAULT_REGISTRIES } from "./allowed-registries.ts";
import { DEFAULT_NAME_SERVERS } from "./default-name-servers.ts";
import type { OpenHours } from "../availability/open-hours.ts";
import { AGENT_ENV_PREFIX, AGENT_SETTINGS, MAX_SLOTS } from "./agent-settings.ts";

const DEFAULT_SLOTS = 4;

/** Settings of an agent, frozen and complete, with sizes in bytes. A setting is null if the owner has not set it. */
export interface AgentConfig {
  readonly coordinator: {
    /** Base URLs of the network's coordinators, at least one. */
    readonly apiUrls: readonly string[] | null;
    readonly token: string | null;
    readonly publicKey: string | null;
    readonly accountId: string | null;
  };
  /** Null if {@link slotsFor} chooses. */
  readonly slots: number | null;
  /** Null if {@link threadsFor} chooses. */
  readonly threads: number | null;
  /** Null for day and night. */
  readonly hours: OpenHours | null;
  readonly gpu: "auto" | "off";
  readonly sandbox: "require" | "auto" | "off";
  readonly engines: {
    /** Base URLs, without `/v1`. */
    readonly urls: readonly string[];
    readonly apiKey: string | null;
    /** Slots of each engine; null: the engine's own number. */
    readonly slots: number | null;
    readonly allowRemote: boolean;
    /** Words of the command that runs GGUF models, with placeholders; null: the agent's own llama.cpp runs them. */
    readonly command: readonly string[] | null;
  };
  readonly models: {
    readonly diskBudgetBytes: number;
    readonly minFreeBytes: number;
    readonly preload: boolean;
    readonly hubEndpoint: string;
    readonly hubToken: string | null;
    readonly allowPrivateAddresses: boolean;
  };
  readonly containers: {
    readonly enabled: boolean;
    readonly registries: readonly string[];
    readonly diskBudgetBytes: number;
    /** Whether Cargos that request a network get one. */
    readonly network: boolean;
    readonly nameServers: readonly string[];
    readonly gpu: boolean;
    /** GPUs, or parts of them, of which each container gets one; null for all GPUs. */
    readonly gpuDevices: readonly string[] | null;
    /** Runtime of the engine, such as runsc; null for its default. */
    readonly runtime: string | null;
  };
  /** Cargos that the owner allows. A list is null if the owner has not set it. */
  readonly cargos: {
    readonly allowRuntimes: readonly string[] | null;
    readonly denyRuntimes: readonly string[] | null;
    readonly allowCategories: readonly string[] | null;
    readonly denyCategories: readonly string[] | null;
    readonly signedBy: readonly string[] | null;
  };
  readonly caps: {
    readonly ramBytes: number | null;
    readonly vramBytes: number | null;
    readonly logicalCores: number | null;
  };
  /** Values from the owner that replace detected ones. */
  readonly hardware: {
    readonly ramBytes: number | null;
    readonly vramBytes: number | null;
    readonly physicalCores: number | null;
  };
  readonly logLevel: LogLevel;
  /** Null if the program chooses. */
  readonly logFormat: LogFormat | null;
}

/**
 * Resolves the settings. Flags take precedence over ISLAND_* variables, variables over config.toml, and the file over
 * defaults. @throws {ConfigError} listing every problem.
 */
export function resolveAgentConfig(sources: SettingSources): AgentConfig {
  const { values } = resolveSettings(AGENT_SETTINGS, AGENT_ENV_PREFIX, sources);
  return Object.freeze({
    coordinator: Object.freeze({
      apiUrls: values.apiUrls,
      token: values.token,
      publicKey: values.publicKey,
      accountId: values.accountId,
    }),
    slots: values.slots,
    threads: values.threads,
    hours: values.hours,
    gpu: values.gpu,
    sandbox: values.sandbox,
    engines: Object.freeze({
      urls: values.engineUrls ?? [],
      apiKey: values.engineApiKey,
      slots: values.engineSlots,
      allowRemote: values.enginesAllowRemote,
      command: values.engineCommand,
    }),
    models: Object.freeze({
      diskBudgetBytes: values.diskBudgetBytes,
      minFreeBytes: values.minFreeBytes,
      preload: values.preload,
      hubEndpoint: values.hubEndpoint,
      hubToken: values.hubToken,
      allowPrivateAddresses: values.allowPrivateAddresses,
    }),
    containers: Object.freeze({
      enabled: values.containersEnabled,
      registries: values.containerRegistries ?? DEFAULT_REGISTRIES,
      diskBudgetBytes: values.containersDiskBudgetBytes,
      network: values.containersNetwork,
      nameServers: values.containersDns ?? DEFAULT_NAME_SERVERS,
      gpu: values.containersGpu,
      gpuDevices: values.containersGpuDevices,
      runtime: values.containersRuntime,
    }),
    cargos: Object.freeze({
      allowRuntimes: values.allowRuntimes,
      denyRuntimes: values.denyRuntimes,
      allowCategories: values.allowCategories,
      denyCategories: values.denyCategories,
      signedBy: values.signedBy,
    }),
    caps: Object.freeze({
      ramBytes: values.capRamBytes,
      vramBytes: values.capVramBytes,
      logicalCores: values.capCpuCores,
    }),
    hardware: Object.freeze({
      ramBytes: values.hardwareRamBytes,
      vramBytes: values.hardwareVramBytes,
      physicalCores: values.hardwarePhysicalCores,
    }),
    logLevel: values.logLevel,
    logFormat: values.logFormat,
  });
}

/** Names unknown variables that look like settings of the agent; returns null if all are known. */
export function describeUnknownEnv(env: SettingSources["env"]): string | null {
  const known = describeSettings(AGENT_SETTINGS, AGENT_ENV_PREFIX).map(({ env: variable }) => variable);
  return describeUnknown([
    ...unknownVariables(env, AGENT_ENV_PREFIX, known),
    ...misprefixedVariables(env, "ATOLL_", { ownPrefix: AGENT_ENV_PREFIX, known }),
  ]);
}

/** Returns the number of concurrent jobs of the runtimes: the setting, or 4. */
export function slotsFor({ slots }: Pick<AgentConfig, "slots">): number {
  return slots ?? DEFAULT_SLOTS;
}

/** Returns the number of concurrent jobs: the setting, or those of the runtimes, if any, and of the engines. */
export function allSlotsFor({ slots }: Pick<AgentConfig, "slots">, hasRuntimes: boolean, engineSlots: number): number {
  const sum = (hasRuntimes ? DEFAULT_SLOTS : 0) + engineSlots;
  return slots ?? Math.min(MAX_SLOTS, Math.max(1, sum));
}

/** Returns the CPU threads for jobs: the setting, or all physical cores but one; at least 1, at most the cap. */
export function threadsFor(config: Pick<AgentConfig, "threads" | "caps">, physicalCores: number): number {
  const wanted = config.threads ?? physicalCores - 1;
  return Math.max(1, Math.min(wanted, config.caps.logicalCores ?? wanted));
}

/** Returns all keys with their values (in the units of the keys) and sources. @throws {ConfigError} */
export function listKeys(sources: SettingSources): ResolvedSetting[] {
  return resolveSettings(AGENT_SETTINGS, AGENT_ENV_PREFIX, sources).resolved;
}

/** Returns the description of an unset key's default, such as "day and night"; null if it has no description. */
export function meaningOfUnset(key: string): string | null {
  return Object.values<Setting<unknown>>(AGENT_SETTINGS).find((each) => each.key === key)?.unsetMeans ?? null;
}

/** Returns the variable that sets a known key, such as "ISLAND_CAPS_RAM_GB". */
export function variableOfKey(key: string): string {
  const description = describeSettings(AGENT_SETTINGS, AGENT_ENV_PREFIX).find((each) => each.key === key);
  return description?.env ?? key;
}

/** Returns one entry of {@link listKeys}. @throws {ConfigError} for an unknown key, with the nearest one. */
export function getKey(sources: SettingSources, key: string): ResolvedSetting {
  const entries = listKeys(sources);
  const found = entries.find((entry) => entry.key === key);
  if (found === undefined)
    throw new ConfigError([
      unknownKey(
        key,
        entries.map((entry) => entry.key),
      ),
    ]);
  return found;
}
