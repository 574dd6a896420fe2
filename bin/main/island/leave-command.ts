import type { Command } from "commander";
import { systemClock } from "../../../shared/clock.ts";
import { CliError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";
import { askYes } from "../terminal/ask-again.ts";
import { print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";

interface LeaveFlags {
  readonly data?: string;
  readonly models?: true;
  readonly keepModels?: true;
  readonly yes?: true;
  readonly json?: true;
}

/** Adds `island leave`. `onDataDirectory` gives a command its `--data`, which `dataDirectoryOf` reads. */
export function addLeaveCommand(
  program: Command,
  onDataDirectory: (command: Command) => Command,
  dataDirectoryOf: (options: LeaveFlags) => string,
): void {
  onDataDirectory(program.command("leave"))
    .description("Have the coordinator forget this Island, and delete its token and, if you like, the models.")
    .option("--models", "delete the models and images as well, without a question")
    .option("--keep-models", "keep them, without a question")
    .option("--yes", "ask nothing; the models stay unless --models is given")
    .option("--json", "print JSON")
    .action(async (options: LeaveFlags) => {
      if (options.models === true && options.keepModels === true) {
        throw new UsageError("Give --models or --keep-models, not both");
      }
      const { leaveNetwork, readMembership } = await import("../../../island-agent/cli/leave-command.ts");
      const place = { dataDirectory: dataDirectoryOf(options), env: process.env, clock: systemClock };
      const membership = await readMembership(place);
      if (options.yes !== true && !process.stdin.isTTY) {
        throw new CliError("Cannot ask for confirmation without a terminal: add --yes to leave");
      }
      const isWanted = options.yes === true || (await askYes(`Leave ${membership.urls.join(", ")}?`));
      const lines = isWanted
        ? await leaveNetwork(place, membership, await deletesModels(options, membership.modelBytes))
        : ["Nothing was changed"];
      print(options, { left: isWanted, message: lines.join(". ") }, lines.join("\n"));
    });
}

async function deletesModels({ models, keepModels, yes }: LeaveFlags, bytes: number): Promise<boolean> {
  if (models === true || keepModels === true || yes === true || bytes === 0) return models === true;
  return askYes(`Delete the models as well (${formatBytes(bytes)})?`);
}
