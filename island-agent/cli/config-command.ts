import { join } from "node:path";
import { CONFIG_FILE_NAME, readConfigFile, storeKey } from "../config/config-file.ts";
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

  /** @throws {ConfigError} nothing is changed then. */
  set(dataDirectory: string, key: string, value: string): Promise<void> {
    return storeKey(dataDirectory, key, value);
  },

  path(dataDirectory: string): string {
    return join(dataDirectory, CONFIG_FILE_NAME);
  },
};
