import type { Command } from "commander";
import { describeBriefly, describeHistory, readHistory } from "../../../island-agent/cli/history-command.ts";
import {
  describeAbsence,
  describeStatus,
  readStatus,
  type ShownStatus,
} from "../../../island-agent/cli/status-command.ts";
import { askAgent } from "../../../island-agent/control/control-client.ts";
import { MAX_JOBS } from "../../../island-agent/execution/job-history.ts";
import { systemClock } from "../../../shared/clock.ts";
import { CliError } from "../../../shared/errors.ts";
import { outputWidth, print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";
import { startLine } from "./start-line.ts";
import { plainLines } from "../../../shared/cli/plain-text.ts";
import { onStopSignal } from "../terminal/stop-signals.ts";

/** Moves the cursor to the upper left corner. Source: ECMA-48, CUP; the others are EL, ED and DECTCEM. */
const HOME = "\u001B[H";
const CLEAR_REST_OF_LINE = "\u001B[K";
const CLEAR_BELOW = "\u001B[J";
const HIDE_CURSOR = "\u001B[?25l";
const SHOW_CURSOR = "\u001B[?25h";

interface ShowOptions {
  readonly data?: string;
  readonly json?: true;
}

interface StatusOptions extends ShowOptions {
  readonly verbose?: true;
  readonly watch?: true;
}

/** Between two looks of `status --watch`. */
const WATCH_MS = 2_000;

/** Adds `island status|history|metrics`. `onDataDirectory` gives a command its `--data`, which `dataDirectoryOf` reads. */
export function addStatusCommands(
  program: Command,
  onDataDirectory: (command: Command) => Command,
  dataDirectoryOf: (options: ShowOptions) => string,
): void {
  const describeNone = (options: ShowOptions): Promise<string> =>
    describeAbsence(dataDirectoryOf(options), startLine(options), systemClock.now());
  const describe = async (options: StatusOptions): Promise<{ status: ShownStatus | null; text: string }> => {
    const directory = dataDirectoryOf(options);
    const status = await readStatus(directory);
    if (status === null) return { status, text: await describeNone(options) };
    const isBrief = options.json !== true && options.verbose !== true;
    // An agent of an earlier version has no history.
    const history = isBrief ? await readHistory(directory).catch(() => null) : null;
    return {
      status,
      text: history === null ? describeStatus(status) : describeBriefly(status, history, systemClock.now()),
    };
  };

  onDataDirectory(program.command("status"))
    .description("Show what the agent runs, what the Island earned, and its last jobs. Exit code 1 if no agent runs.")
    .option("--verbose", "show all that the agent knows of itself")
    .option("--watch", "show it again every two seconds, until Ctrl-C; needs a terminal")
    .option("--json", "print JSON")
    .action(async (options: StatusOptions) => {
      if (options.watch === true) {
        if (options.json === true || !process.stdout.isTTY) {
          throw new UsageError(
            "--watch redraws a terminal: leave it out to print the status once, or call it in a loop",
          );
        }
        return watchScreen(async () => (await describe(options)).text, WATCH_MS);
      }
      const { status, text } = await describe(options);
      if (status === null) process.exitCode = 1;
      return print(options, status, text);
    });

  onDataDirectory(program.command("history"))
    .description("Show the last jobs that ran here: Cargo, when, how long, how they ended and why, what they earned.")
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
      print(options, shown, shown === null ? await describeNone(options) : describeHistory(shown, outputWidth()));
    });

  onDataDirectory(program.command("metrics"))
    .description(
      "Print the agent's figures in Prometheus' text format, for example for node_exporter's textfile collector.",
    )
    .action(async (options: ShowOptions) => {
      const text = await askAgent<string>(dataDirectoryOf(options), "/metrics");
      if (text === undefined) throw new CliError(await describeNone(options));
      console.log(text.trimEnd());
    });
}

/** Shows a text on the whole terminal, again and again, until Ctrl-C or SIGTERM; what was shown last stays. @param read what to show. */
async function watchScreen(read: () => Promise<string>, everyMs: number): Promise<void> {
  const stop = new AbortController();
  onStopSignal(() => stop.abort());
  // The screen is cleared below what is drawn: nothing scrolls away.
  process.stdout.write(`${HIDE_CURSOR}${HOME}${CLEAR_BELOW}`);
  try {
    while (!stop.signal.aborted) {
      const text = await read();
      if (stop.signal.aborted) return;
      process.stdout.write(`${HOME}${fitted(plainLines(text))}${CLEAR_BELOW}`);
      await systemClock.sleep(everyMs, stop.signal).catch(() => undefined);
    }
  } finally {
    process.stdout.write(SHOW_CURSOR);
  }
}

/** Lines that fit the terminal: one that wraps would move all that follows. The last row stays free for the cursor. */
function fitted(text: string): string {
  // A terminal that does not know its size says 0.
  const rows = process.stdout.rows || 24;
  const lines = text.split("\n").slice(0, Math.max(1, rows - 1));
  return lines.map((line) => `${line.slice(0, outputWidth())}${CLEAR_REST_OF_LINE}\n`).join("");
}
