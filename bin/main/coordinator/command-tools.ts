import type { Command } from "commander";
import type { CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import type { DataOptions } from "./data-commands.ts";

/** Functions used by all commands on a data directory. */
export interface CommandTools {
  /** Adds the options of {@link DataOptions}. */
  readonly addDataOptions: (command: Command) => Command;
  /** Prints `value` as JSON with `--json`, and `text` without it. */
  readonly print: (options: DataOptions, value: unknown, text: string) => void;
  readonly withStore: (
    options: DataOptions,
    use: (store: Store, config: CoordinatorConfig) => Promise<void>,
  ) => Promise<void>;
}
