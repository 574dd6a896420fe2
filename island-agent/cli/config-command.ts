import { join } from "node:path";
import { CONFIG_FILE_NAME, readConfigFile, storeKey } from "../config/config-file.ts";
import { askAgent } from "../control/control-client.ts";
import { getKey, listKeys } from "../config/resolve-agent-config.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** `island config`: what is set, where it came from, and changes to it. */
export const configCommand = {
  /** One value, or all keys with value and source. @throws {ConfigError} for an unknown key or a file that is wrong. */
  async get(dataDirectory: string, env: Env, key: string | undefined): Promise<string> {
    const sources = { flags: {}, env, file: await readConfigFile(dataDirectory) };
    if (key !== undefined) return getKey(sources, key).shown ?? "";
    const rows = listKeys(sources);
    const width = Math.max(...rows.map((row) => row.key.length));
    return rows.map((row) => `${row.key.padEnd(width)}  ${row.shown ?? "-"}  (${row.source})`).join("\n");
  },

  /** Returns what to say to the user; null: nothing. @throws {ConfigError} nothing is changed then. */
  async set(dataDirectory: string, key: string, value: string): Promise<string | null> {
    await storeKey(dataDirectory, key, value);
    return adviceAfterChange(dataDirectory);
  },

  /** Takes a key out of the file, so that it has its default again. Returns and throws as `set`. */
  async unset(dataDirectory: string, key: string): Promise<string | null> {
    await storeKey(dataDirectory, key, null);
    return adviceAfterChange(dataDirectory);
  },

  path(dataDirectory: string): string {
    return join(dataDirectory, CONFIG_FILE_NAME);
  },
};

/** Settings are read at the start only. */
async function adviceAfterChange(dataDirectory: string): Promise<string | null> {
  // One that does not answer runs all the same.
  const isRunning = await askAgent(dataDirectory, "/status").then(
    (status) => status !== undefined,
    () => true,
  );
  return isRunning ? "The agent that runs now has the old settings: restart it to use the new ones" : null;
}
