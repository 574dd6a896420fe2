import { join } from "node:path";
import type { ResolvedSetting } from "../../shared/settings.ts";
import { CONFIG_FILE_NAME, readConfigFile, storeKey } from "../config/config-file.ts";
import type { SettingOutcome } from "../config/live-settings.ts";
import { ControlRefusal, postToAgent } from "../control/control-client.ts";
import type { AgentStatus } from "../execution/island-reports.ts";
import {
  getKey,
  listKeys,
  meaningOfUnset,
  resolveAgentConfig,
  threadsFor,
  variableOfKey,
  type AgentConfig,
} from "../config/resolve-agent-config.ts";
import { systemProbe } from "../hardware/host-probe.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Runs `island config`, which shows and changes the settings. */
export const configCommand = {
  /**
   * Returns one value, or all keys with their values and sources. @throws {ConfigError} for an unknown key or invalid
   * file.
   */
  async get(dataDirectory: string, env: Env, key: string | undefined): Promise<string> {
    const sources = { flags: {}, env, file: await readConfigFile(dataDirectory) };
    if (key !== undefined) return getKey(sources, key).shown ?? "";
    const rows = listKeys(sources);
    const width = Math.max(...rows.map((row) => row.key.length));
    const threads = await threadsHere(resolveAgentConfig(sources));
    const valueOf = ({ key: name, shown }: ResolvedSetting): string =>
      shown ?? (name === "threads" ? `${threads}` : (meaningOfUnset(name) ?? "-"));
    return rows.map((row) => `${row.key.padEnd(width)}  ${valueOf(row)}  (${row.source})`).join("\n");
  },

  /** Returns one setting, or all, for scripts. */
  async read(dataDirectory: string, env: Env, key: string | undefined): Promise<ResolvedSetting | ResolvedSetting[]> {
    const sources = { flags: {}, env, file: await readConfigFile(dataDirectory) };
    return key === undefined ? listKeys(sources) : getKey(sources, key);
  },

  /** Sets a key. Returns a hint for the user, or null. @throws {ConfigError} for an unknown key or invalid value. */
  async set(dataDirectory: string, key: string, value: string): Promise<string | null> {
    await storeKey(dataDirectory, key, value);
    return applyChange(dataDirectory, key);
  },

  /** Removes a key from the file, so that its default applies. Returns and throws like `set`. */
  async unset(dataDirectory: string, key: string): Promise<string | null> {
    await storeKey(dataDirectory, key, null);
    return applyChange(dataDirectory, key);
  },

  path(dataDirectory: string): string {
    return join(dataDirectory, CONFIG_FILE_NAME);
  },
};

async function threadsHere(config: AgentConfig): Promise<number> {
  const cores = config.hardware.physicalCores ?? (await systemProbe.physicalCores());
  return threadsFor(config, cores ?? systemProbe.availableCores());
}

/** Reply of the running agent to a changed setting. */
export interface ReloadReply {
  readonly outcome: SettingOutcome;
  readonly status: Pick<AgentStatus, "closedBecause" | "running" | "slots">;
}

/** Time limit for a change. Hardware detection takes seconds on some machines. */
const MAX_APPLY_MS = 60_000;

/** Applies the setting to the running agent. Returns the outcome as text for the user; null if no agent is running. */
export async function applyChange(dataDirectory: string, key: string): Promise<string | null> {
  try {
    const reply = await postToAgent<ReloadReply>(dataDirectory, "/settings", { key }, MAX_APPLY_MS);
    return reply === undefined ? null : describeOutcome(key, reply);
  } catch (error) {
    if (error instanceof ControlRefusal)
      return `The change is stored, but the running agent keeps its settings: ${error.message}`;
    // The running agent does not reply, or has an earlier version.
    return "The change is stored, but the running agent did not apply it. Restart the agent";
  }
}

function describeOutcome(key: string, { outcome, status }: ReloadReply): string {
  const { closedBecause, running, slots } = status;
  switch (outcome) {
    case "applied":
      if (key === "slots" && running.length > slots)
        return `Applied. ${running.length} running jobs continue; new jobs are accepted when fewer than ${slots} are running`;
      if (key === "hours" && closedBecause !== null) return `Applied. The Island is ${closedBecause}`;
      return "Applied to the running agent";
    case "next_start":
      return "Stored. Restart the agent to apply it";
    case "overridden":
      return `Stored, but a flag or the variable ${variableOfKey(key)} of the running agent overrides the file`;
    default:
      return outcome satisfies never;
  }
}
