import { join } from "node:path";
import type { ResolvedSetting } from "../../shared/settings.ts";
import { CONFIG_FILE_NAME, readConfigFile, storeKey } from "../config/config-file.ts";
import { isAgentRunning } from "../control/control-client.ts";
import { getKey, listKeys } from "../config/resolve-agent-config.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** `island config`: shows and changes the settings. */
export const configCommand = {
  /** One value, or all keys with value and source. @throws {ConfigError} for an unknown key or an invalid file. */
  async get(dataDirectory: string, env: Env, key: string | undefined): Promise<string> {
    const sources = { flags: {}, env, file: await readConfigFile(dataDirectory) };
    if (key !== undefined) return getKey(sources, key).shown ?? "";
    const rows = listKeys(sources);
    const width = Math.max(...rows.map((row) => row.key.length));
    return rows.map((row) => `${row.key.padEnd(width)}  ${row.shown ?? "-"}  (${row.source})`).join("\n");
  },

  /** As `get`, for scripts: one setting, or all. */
  async read(dataDirectory: string, env: Env, key: string | undefined): Promise<ResolvedSetting | ResolvedSetting[]> {
    const sources = { flags: {}, env, file: await readConfigFile(dataDirectory) };
    return key === undefined ? listKeys(sources) : getKey(sources, key);
  },

  /** Returns a hint for the user, or null. @throws {ConfigError} for an unknown key or a value that is not allowed; nothing is changed then. */
  async set(dataDirectory: string, key: string, value: string): Promise<string | null> {
    await storeKey(dataDirectory, key, value);
    return adviceAfterChange(dataDirectory);
  },

  /** Removes a key from the file, so that its default applies. Returns and throws as `set`. */
  async unset(dataDirectory: string, key: string): Promise<string | null> {
    await storeKey(dataDirectory, key, null);
    return adviceAfterChange(dataDirectory);
  },

  path(dataDirectory: string): string {
    return join(dataDirectory, CONFIG_FILE_NAME);
  },
};

/** The agent reads its settings only when it starts. */
async function adviceAfterChange(dataDirectory: string): Promise<string | null> {
  return (await isAgentRunning(dataDirectory))
    ? "The running agent still has the old settings: restart it to apply the change"
    : null;
}
