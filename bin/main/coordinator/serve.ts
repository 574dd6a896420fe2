import { describeUnknownEnv, type CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import { openCoordinator } from "../../../coordinator/coordinator.ts";
import { lockForServing } from "../../../coordinator/store/sqlite/engine/serve-lock.ts";
import { retryWhileReadOnly } from "../../../coordinator/store/retry-while-unavailable.ts";
import { systemClock } from "../../../shared/clock.ts";
import { openLog } from "../terminal/open-log.ts";
import { onStopSignal } from "../terminal/stop-signals.ts";
import { setFlagsFromString } from "node:v8";

/**
 * Serves until SIGTERM or SIGINT.
 * @param file path of the settings file; null: none.
 * @throws {DatabaseError} if another coordinator serves the data directory. Coordinators may share a database.
 */
export async function serve(config: CoordinatorConfig, version: string, file: string | null): Promise<void> {
  // The process may exit at any time; the store is as safe as after a power cut.
  onStopSignal(() => process.exit(0));
  const log = await openLog(config.logLevel, config.logFormat);
  if (file !== null) log.info({ config: file }, "Reading settings from a file");
  const unknown = describeUnknownEnv(process.env);
  if (unknown !== null) log.warn(unknown);
  if (config.storeAddress === null) {
    const lock = await retryWhileReadOnly(() => lockForServing(config.dataDirectory), { clock: systemClock, log });
    process.on("exit", () => lock.release());
  }
  const coordinator = await openCoordinator({
    config,
    clock: systemClock,
    log,
    version,
    onFatal: (error) => {
      log.fatal(
        { err: error },
        `Storage failed. The process ends; a restart continues from the stored state. To check the database for damage: ${config.commandLine("check")}`,
      );
      process.exit(70);
    },
  });
  keepYoungGeneration();
  console.log(`listening on ${coordinator.url}`);
  let isStopping = false;
  const stop = (signal: string): void => {
    // A second signal ends the process without waiting for requests in progress.
    if (isStopping) process.exit(130);
    isStopping = true;
    log.info({ signal }, "Stopping");
    coordinator.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "Shutdown failed");
        process.exit(1);
      },
    );
  };
  onStopSignal(stop);
}

/**
 * Stops the growth of V8's young generation. It would grow to 192 MB of long-lived objects, which a coordinator has
 * many of: 10,000 connecting Islands took 75 MB more permanently. At the end of a start it has the 16 MB (three times)
 * that Node.js used until version 22. The option `--max-semi-space-size` sets its size, but a running program cannot
 * set it.
 */
function keepYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
