import { coordinatorCommands } from "./coordinator-commands.ts";
import { readVersion } from "./package-info.ts";
import { reportError } from "./report-error.ts";

try {
  await coordinatorCommands(await readVersion()).parseAsync();
} catch (error) {
  reportError(error);
  process.exit(1);
}
