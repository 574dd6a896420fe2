import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";

/** What every part of a coordinator is opened with. `K` names the settings that the part reads. */
export interface Env<K extends keyof CoordinatorConfig = never> {
  readonly config: Pick<CoordinatorConfig, K>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Reports that the coordinator cannot go on: the process must end and start again from storage. */
  readonly onFatal: (error: unknown) => void;
  readonly version: string;
}
