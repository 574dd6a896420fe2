import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";

/** Dependencies of every part of a coordinator. `K` names the settings that the part reads. */
export interface Env<K extends keyof CoordinatorConfig = never> {
  readonly config: Pick<CoordinatorConfig, K>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Reports that the coordinator cannot continue: the process must exit and restart from storage. */
  readonly onFatal: (error: unknown) => void;
  readonly version: string;
}
