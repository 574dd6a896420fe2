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
 * @param file path of the settings file; null if no file is used.
 * @throws {DatabaseError} if another coordinator serves the data directory. Coordinators may share a database.
 */
export async function serve(config: CoordinatorConfig, version: string, file: string | null): Promise<void> {
  // The process may exit at any time, because the store also survives a power cut.
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
  limitYoungGeneration();
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
 * Stops the growth of V8's young generation. Without this it would grow to 192 MB and fill with long-lived objects:
 * 10,000 connecting Islands permanently took 75 MB more. At the end of the start it has the size that Node.js used
 * until version 22, three times 16 MB. The option `--max-semi-space-size` sets the size, but a running program cannot
 * set that option.
 */
function limitYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
