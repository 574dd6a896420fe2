import type { Command } from "commander";
import { describeBriefly, describeHistory, readHistory } from "../../../island-agent/cli/history-command.ts";
import {
  describeAbsence,
  describeStatus,
  readStatus,
  type ShownStatus,
} from "../../../island-agent/cli/status-command.ts";
import { getFromAgent } from "../../../island-agent/control/control-client.ts";
import { MAX_JOBS } from "../../../island-agent/execution/job-history.ts";
import { systemClock } from "../../../shared/clock.ts";
import { CliError } from "../../../shared/errors.ts";
import { outputWidth, print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";
import { islandLine } from "./island-line.ts";
import { plainLines } from "../../../shared/cli/plain-text.ts";
import { onStopSignal } from "../terminal/stop-signals.ts";

/** The control sequences CUP (to the upper left corner), EL, ED and DECTCEM. Source: ECMA-48. */
const CURSOR_HOME = "\u001B[H";
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

/** Interval at which `status --watch` reads the status. */
const WATCH_MS = 2_000;

/** Adds `island status|history|metrics`. `addDataOptions` adds the flag `--data`, which `dataDirectoryOf` reads. */
export function addStatusCommands(
  program: Command,
  addDataOptions: (command: Command) => Command,
  dataDirectoryOf: (options: ShowOptions) => string,
): void {
  const describeNoAgent = (options: ShowOptions): Promise<string> =>
    describeAbsence(dataDirectoryOf(options), islandLine("start", options), systemClock.now());
  const describe = async (options: StatusOptions): Promise<{ status: ShownStatus | null; text: string }> => {
    const directory = dataDirectoryOf(options);
    const status = await readStatus(directory);
    if (status === null) return { status, text: await describeNoAgent(options) };
    const isBrief = options.json !== true && options.verbose !== true;
    // An agent of an earlier version does not keep a history.
    const history = isBrief ? await readHistory(directory).catch(() => null) : null;
    return {
      status,
      text: history === null ? describeStatus(status) : describeBriefly(status, history, systemClock.now()),
    };
  };

  addDataOptions(program.command("status"))
    .description(
      "Show the running jobs, the earnings and the most recent jobs; the exit code is 1 if no agent is running",
    )
    .option("--verbose", "show all details of the agent")
    .option("--watch", "refresh every two seconds until Ctrl-C; requires a terminal")
    .option("--json", "print JSON")
    .action(async (options: StatusOptions) => {
      if (options.watch === true) {
        if (options.json === true || !process.stdout.isTTY) {
          throw new UsageError(
            "--watch requires a terminal, and cannot be combined with --json. Omit --watch to print the status once",
          );
        }
        return watchScreen(async () => (await describe(options)).text, WATCH_MS);
      }
      const { status, text } = await describe(options);
      if (status === null) process.exitCode = 1;
      return print(options, status, text);
    });

  addDataOptions(program.command("history"))
    .description("Show the most recent jobs: Cargo, start, duration, outcome with its reason, and credits")
    .option("--limit <n>", `number of jobs, 1 to ${MAX_JOBS}`, "20")
    .option("--json", "print JSON")
    .action(async (options: ShowOptions & { limit: string }) => {
      const limit = /^\d{1,4}$/.test(options.limit) ? Number(options.limit) : 0;
      if (limit < 1 || limit > MAX_JOBS) {
        throw new UsageError(`--limit: must be an integer from 1 to ${MAX_JOBS}, got ${JSON.stringify(options.limit)}`);
      }
      const history = await readHistory(dataDirectoryOf(options));
      if (history === null) process.exitCode = 1;
      const shown = history && { ...history, jobs: history.jobs.slice(0, limit) };
      print(options, shown, shown === null ? await describeNoAgent(options) : describeHistory(shown, outputWidth()));
    });

  addDataOptions(program.command("metrics"))
    .description(
      "Print the metrics of the agent in the Prometheus text format, for example for the textfile collector of node_exporter",
    )
    .action(async (options: ShowOptions) => {
      const text = await getFromAgent<string>(dataDirectoryOf(options), "/metrics");
      if (text === undefined) throw new CliError(await describeNoAgent(options));
      console.log(text.trimEnd());
    });
}

/** Redraws a text on the terminal until Ctrl-C or SIGTERM. The last text stays. @param read returns the text. */
async function watchScreen(read: () => Promise<string>, everyMs: number): Promise<void> {
  const stop = new AbortController();
  onStopSignal(() => stop.abort());
  // Clears the screen only below the new text, so that nothing scrolls away.
  process.stdout.write(`${HIDE_CURSOR}${CURSOR_HOME}${CLEAR_BELOW}`);
  try {
    while (!stop.signal.aborted) {
      const text = await read();
      if (stop.signal.aborted) return;
      process.stdout.write(`${CURSOR_HOME}${fitToTerminal(plainLines(text))}${CLEAR_BELOW}`);
      await systemClock.sleep(everyMs, stop.signal).catch(() => undefined);
    }
  } finally {
    process.stdout.write(SHOW_CURSOR);
  }
}

/**
 * Cuts the text to lines that fit the terminal, because a line that wraps would move all lines below it. The last row
 * stays free for the cursor.
 */
function fitToTerminal(text: string): string {
  // A terminal of unknown size reports 0.
  const rows = process.stdout.rows || 24;
  const lines = text.split("\n").slice(0, Math.max(1, rows - 1));
  return lines.map((line) => `${line.slice(0, outputWidth())}${CLEAR_REST_OF_LINE}\n`).join("");
}
