import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { resolveConfig, type CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import type { ConfigFile } from "../../../shared/settings.ts";
import { packageRoot } from "../package-info.ts";
import { coordinatorName } from "../terminal/command-line.ts";
import { shellWord } from "../terminal/shell-word.ts";

/** Paths of the file that `init` writes, in the order in which commands look for them. */
export const CONFIG_PATHS = ["atoll.toml", join("atoll", "atoll.toml")] as const;

/** Flags that name a settings file or a data location. All other flags of a command are settings. */
interface LocationFlags {
  readonly config?: string | undefined;
  readonly data?: string | undefined;
  readonly store?: string | undefined;
}

/**
 * Returns the path of the settings file: `--config`, then ATOLL_CONFIG, then the first of {@link CONFIG_PATHS} that
 * exists. Does not search {@link CONFIG_PATHS} with `--data` or `--store`, because these name the data. Null if there
 * is no file.
 */
export function findConfigFile({ config, data, store }: LocationFlags): string | null {
  const named = config ?? (process.env["ATOLL_CONFIG"] || undefined);
  if (named !== undefined) return named;
  if (data !== undefined || store !== undefined) return null;
  const found = CONFIG_PATHS.find((path) => existsSync(path));
  return found === undefined ? null : resolve(found);
}

/**
 * Reads the configuration from a command's flags, the environment and the file of {@link findConfigFile}. Prints the
 * path of that file on standard error, unless `--config` names it or the command prints JSON. @throws {ConfigError}
 */
export async function readCoordinatorConfig(
  options: LocationFlags & { readonly json?: true | undefined },
): Promise<CoordinatorConfig> {
  const { json, config, ...flags } = options;
  const file = findConfigFile(options);
  if (file !== null && config === undefined && json !== true) console.error(`Settings: ${file}`);
  return configFrom(file, flags);
}

/** Reads the configuration from flags, the environment and one file. @throws {ConfigError} */
export async function configFrom(
  file: string | null,
  flags: Readonly<Record<string, unknown>>,
): Promise<CoordinatorConfig> {
  const { data, ...settings } = flags;
  const locationFlag = file !== null ? configFlag(file) : typeof data === "string" ? ` --data ${shellWord(data)}` : "";
  return resolveConfig({
    flags: data === undefined ? settings : { ...settings, dataDirectory: data },
    env: process.env,
    toml: file === null ? null : await readToml(file),
    shippedCatalogDirectory: join(packageRoot, "catalog"),
    commandLine: (words) => `${coordinatorName()} ${words}${locationFlag}`,
  });
}

/** Returns ` --config <file>`, or an empty text if commands find the file without the flag. */
export function configFlag(file: string): string {
  const found = findConfigFile({});
  return found !== null && resolve(found) === resolve(file) ? "" : ` --config ${shellWord(resolve(file))}`;
}

async function readToml(name: string): Promise<ConfigFile> {
  try {
    return { name, text: await readFile(name, "utf8") };
  } catch (error) {
    // The error that Node.js throws for a directory does not contain the path.
    throw Object.assign(error as NodeJS.ErrnoException, { path: name });
  }
}
