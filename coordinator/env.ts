import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";

/** Dependencies that every part of a coordinator can have. `K` names the settings that the part reads. */
export interface Env<K extends keyof CoordinatorConfig = never> {
  readonly config: Pick<CoordinatorConfig, K>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Reports a fault after which the process must exit and restart from storage. */
  readonly onFatal: (error: unknown) => void;
  readonly version: string;
}
