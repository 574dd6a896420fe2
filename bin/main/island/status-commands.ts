import type { Command } from "commander";
import { describeBriefly, describeHistory, readHistory } from "../../../island-agent/cli/history-command.ts";
import { describeStatus, readStatus } from "../../../island-agent/cli/status-command.ts";
import { askAgent } from "../../../island-agent/control/control-client.ts";
import { MAX_JOBS } from "../../../island-agent/execution/job-history.ts";
import { systemClock } from "../../../shared/clock.ts";
import { CliError } from "../../../shared/errors.ts";
import { outputWidth, print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";

interface ShowOptions {
  readonly data?: string;
  readonly json?: true;
}

/** Adds `island status|history|metrics`. `onDataDirectory` gives a command its `--data`, which `dataDirectoryOf` reads. */
export function addStatusCommands(
  program: Command,
  onDataDirectory: (command: Command) => Command,
  dataDirectoryOf: (options: ShowOptions) => string,
): void {
  onDataDirectory(program.command("status"))
    .description("Show what the agent runs, what the Island earned, and its last jobs. Exit code 1 if no agent runs.")
    .option("--verbose", "show all that the agent knows of itself")
    .option("--json", "print JSON")
    .action(async (options: ShowOptions & { verbose?: true }) => {
      const directory = dataDirectoryOf(options);
      const status = await readStatus(directory);
      if (status === null) process.exitCode = 1;
      const isBrief = options.json !== true && options.verbose !== true && status !== null;
      // An agent of an earlier version does not tell.
      const history = isBrief ? await readHistory(directory).catch(() => null) : null;
      const text =
        history === null || status === null
          ? describeStatus(status)
          : describeBriefly(status, history, systemClock.now());
      print(options, status, text);
    });

  onDataDirectory(program.command("history"))
    .description("Show the last jobs that ran here: Cargo, when, how long, how they ended, what they earned.")
    .option("--limit <number>", `how many, 1 to ${MAX_JOBS}: the agent keeps no more`, "20")
    .option("--json", "print JSON")
    .action(async (options: ShowOptions & { limit: string }) => {
      const limit = /^\d{1,4}$/.test(options.limit) ? Number(options.limit) : 0;
      if (limit < 1 || limit > MAX_JOBS) {
        throw new UsageError(`--limit takes a whole number from 1 to ${MAX_JOBS}: the agent keeps no more jobs`);
      }
      const history = await readHistory(dataDirectoryOf(options));
      if (history === null) process.exitCode = 1;
      const shown = history && { ...history, jobs: history.jobs.slice(0, limit) };
      print(options, shown, describeHistory(shown, outputWidth()));
    });

  onDataDirectory(program.command("metrics"))
    .description(
      "Print the agent's figures in Prometheus' text format, for example for node_exporter's textfile collector.",
    )
    .action(async (options: ShowOptions) => {
      const text = await askAgent<string>(dataDirectoryOf(options), "/metrics");
      if (text === undefined) throw new CliError("No agent runs on this data directory: start one with island start");
      console.log(text.trimEnd());
    });
}
