import { dropUnreadOutput } from "./closed-pipe.ts";
import { coordinatorCommands } from "./coordinator-commands.ts";
import { COORDINATOR_ERRORS } from "./coordinator-errors.ts";
import { readVersion } from "./package-info.ts";
import { reportError } from "./report-error.ts";

dropUnreadOutput();
try {
  await coordinatorCommands(await readVersion()).parseAsync();
} catch (error) {
  process.exit(reportError(error, { expected: COORDINATOR_ERRORS, asJson: process.argv.includes("--json") }));
}
