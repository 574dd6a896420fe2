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

/** Adds `island leave`. `addDataOptions` adds the flag `--data`, which `dataDirectoryOf` reads. */
export function addLeaveCommand(
  program: Command,
  addDataOptions: (command: Command) => Command,
  dataDirectoryOf: (options: LeaveFlags) => string,
): void {
  addDataOptions(program.command("leave"))
    .description(
      "Leave the coordinator: delete this Island from it, and delete the token and optionally the models here",
    )
    .option("--models", "also delete the models and images, without a prompt")
    .option("--keep-models", "keep the models and images, without a prompt")
    .option("--yes", "skip all prompts; the models stay unless --models is given")
    .option("--json", "print JSON")
    .action(async (options: LeaveFlags) => {
      if (options.models === true && options.keepModels === true) {
        throw new UsageError("--models and --keep-models cannot be combined. Give one of them");
      }
      const { leaveNetwork, readMembership } = await import("../../../island-agent/cli/leave-command.ts");
      const location = { dataDirectory: dataDirectoryOf(options), env: process.env, clock: systemClock };
      const membership = await readMembership(location);
      if (options.yes !== true && !process.stdin.isTTY) {
        throw new CliError(
          `Nothing was changed, because standard input is not a terminal and cannot confirm this. To leave ${membership.urls.join(", ")}, add --yes`,
        );
      }
      const isConfirmed = options.yes === true || (await askYes(`Leave ${membership.urls.join(", ")}?`));
      const lines = isConfirmed
        ? await leaveNetwork(location, membership, await confirmModelDeletion(options, membership.modelBytes))
        : ["Nothing was changed"];
      print(options, { left: isConfirmed, message: lines.join(". ") }, lines.join("\n"));
    });
}

async function confirmModelDeletion({ models, keepModels, yes }: LeaveFlags, bytes: number): Promise<boolean> {
  if (models === true || keepModels === true || yes === true || bytes === 0) return models === true;
  return askYes(`Also delete the models (${formatBytes(bytes)})?`);
}
