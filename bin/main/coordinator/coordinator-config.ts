import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { resolveConfig, type CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import type { ConfigFile } from "../../../shared/settings.ts";
import { packageRoot } from "../package-info.ts";

/** The configuration from a command's flags, the environment and the file of `--config`. @throws {ConfigError} */
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
    // For a directory Node's error has no path.
    throw Object.assign(error as NodeJS.ErrnoException, { path: name });
  }
}
