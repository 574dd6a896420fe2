import { coordinatorCommands } from "./coordinator-commands.ts";
import { COORDINATOR_ERRORS } from "./coordinator-errors.ts";
import { readVersion } from "./package-info.ts";
import { reportError } from "./report-error.ts";

try {
  await coordinatorCommands(await readVersion()).parseAsync();
} catch (error) {
  reportError(error, COORDINATOR_ERRORS);
  process.exit(1);
}
