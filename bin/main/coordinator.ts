import { dropUnreadOutput } from "./terminal/closed-pipe.ts";
import { coordinatorCommands } from "./coordinator/coordinator-commands.ts";
import { COORDINATOR_ERRORS } from "./coordinator/coordinator-errors.ts";
import { readVersion } from "./package-info.ts";
import { reportError } from "./terminal/report-error.ts";

dropUnreadOutput();
try {
  await coordinatorCommands(await readVersion()).parseAsync();
} catch (error) {
  process.exit(reportError(error, { expected: COORDINATOR_ERRORS, asJson: process.argv.includes("--json") }));
}
