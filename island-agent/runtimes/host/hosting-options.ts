import type { Clock } from "../../../shared/clock.ts";
import type { Environment } from "./host-environment.ts";
import { DEFAULT_LOAD_LIMITS, type LoadLimits } from "./load-limit.ts";
import type { HostLog } from "./start-host.ts";

/** What every runtime whose Cargos run in host processes can be told. */
export interface HostingOptions {
  readonly clock: Clock;
  /** How long a cancelled run, or a model that is unloaded, may take before its process is killed. */
  readonly killAfterMs?: number;
  /** The agent's own environment; only what loaders and drivers need is passed on. */
  readonly environment?: Environment;
  /** After which a load that hangs is given up. */
  readonly limits?: LoadLimits;
  readonly log?: HostLog;
}

/** Where nothing is said. `killAfterMs`: DESIGN §7. */
export const HOSTING_DEFAULTS: Required<Omit<HostingOptions, "clock">> = {
  killAfterMs: 2_000,
  environment: {},
  limits: DEFAULT_LOAD_LIMITS,
  log: () => undefined,
};
