import { resolveConfig, type CoordinatorConfig } from "../../coordinator/config/resolve-config.ts";
import type { Env } from "../../coordinator/env.ts";
import { ManualClock } from "./manual-clock.ts";

const DEFAULTS = resolveConfig({ flags: {}, env: {}, toml: null, shippedCatalogDirectory: "/shipped/catalog" });

/**
 * Returns the environment for a part of a coordinator, with default settings except for those in `config`. Unless
 * `others` override them, its clock does not advance, its log is silent, and a fatal error fails the test.
 */
export function testEnv(
  config: Partial<CoordinatorConfig> = {},
  others: Partial<Omit<Env, "config">> = {},
): Env<keyof CoordinatorConfig> {
  return {
    config: { ...DEFAULTS, ...config },
    clock: new ManualClock(),
    log: { info: ignore, warn: ignore, error: ignore },
    onFatal: (error) => {
      throw error;
    },
    version: "0.0.0-test",
    ...others,
  };
}

function ignore(): void {}
