import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { resolveConfig, type CoordinatorConfig } from "../../coordinator/config/resolve-config.ts";
import type { ConfigFile } from "../../shared/settings.ts";
import { packageRoot } from "./package.ts";

/** The configuration by the flags of a command, the environment and the file that `--config` names. @throws {ConfigError} */
export async function readCoordinatorConfig(options: Readonly<Record<string, unknown>>): Promise<CoordinatorConfig> {
  const { config, data, ...flags } = options;
  return resolveConfig({
    flags: data === undefined ? flags : { ...flags, dataDirectory: data },
    env: process.env,
    toml: typeof config === "string" ? await readToml(config) : null,
    shippedCatalogDirectory: join(packageRoot, "catalog"),
  });
}

async function readToml(name: string): Promise<ConfigFile> {
  try {
    return { name, text: await readFile(name, "utf8") };
  } catch (error) {
    // Node names no path when the file can be opened but not read, as a directory.
    throw Object.assign(error as NodeJS.ErrnoException, { path: name });
  }
}
