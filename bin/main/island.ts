import { constants, getPriority, homedir, setPriority, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { systemClock } from "../../shared/clock.ts";
import { LOG_FORMAT_SETTING, LOG_LEVEL_SETTING } from "../../shared/cli/log-settings.ts";
import { plainLines } from "../../shared/cli/plain-text.ts";
import { drain, setPause } from "../../island-agent/cli/availability-commands.ts";
import { homeOf } from "../../island-agent/service/home-of.ts";
import { REFUSED_EXIT_CODE } from "../../island-agent/service/service-file.ts";
import { defaultDataDirectory } from "../../island-agent/cli/data-directory.ts";
import type { Setting } from "../../shared/settings.ts";
import { packageRoot, readVersion } from "./package-info.ts";
import { dropUnreadOutput } from "./terminal/closed-pipe.ts";
import { addConfigCommands } from "./island/config-commands.ts";
import { addEnginesCommands } from "./island/engines-commands.ts";
import { addJoinCommand } from "./island/join-command.ts";
import { addLeaveCommand } from "./island/leave-command.ts";
import { addModelsCommands } from "./island/models-commands.ts";
import { addRuntimesCommands } from "./island/runtimes-commands.ts";
import { print, printJson } from "./terminal/print.ts";
import { reportError } from "./terminal/report-error.ts";
import { addStatusCommands } from "./island/status-commands.ts";
import { explainUsageBriefly } from "./terminal/usage-errors.ts";
import { groupCommands } from "./terminal/command-groups.ts";
import { openStepLine } from "./terminal/step-line.ts";
import { onStopSignal } from "./terminal/stop-signals.ts";

// Commands load their modules when they run, because only `start` needs most of the agent.
const version = await readVersion();

interface DataOptions {
  readonly data?: string;
  readonly json?: true;
}

/** Returns the data directory as an absolute path, because sandboxed processes have another working directory. */
const dataDirectoryOf = (options: DataOptions): string =>
  resolve(options.data ?? process.env["ATOLL_ISLAND_DATA"] ?? defaultDataDirectory(process.env, process.platform));

/** Headings in the help, each with its commands. */
const COMMAND_GROUPS = {
  "Set up:": ["join", "leave", "config", "install-service"],
  "Run jobs:": ["start", "pause", "resume", "drain"],
  "Inspect:": ["status", "history", "metrics", "doctor"],
  "Models and runtimes:": ["engines", "models", "runtimes"],
};

const settingHelp = ({ meaning, fallback, unsetMeans }: Setting<unknown>): string =>
  `${meaning} (default: ${fallback ?? unsetMeans})`;

const program = new Command("island")
  .description("Run this machine as an Island, which runs jobs for an Atoll coordinator.")
  .version(version)
  .addHelpText(
    "after",
    `
To set up an Island (create the pairing code in your account):
  island join https://atoll.example --code ABCD-EFGH
  island start
Exit codes: 0 success, 1 failure, 2 usage error. island start also: 3, the coordinator rejects this Island permanently.`,
  );

addJoinCommand(program, addDataOptions, dataDirectoryOf);

addDataOptions(program.command("start"))
  .description("Run jobs until Ctrl-C or SIGTERM")
  .option(`--log-level ${LOG_LEVEL_SETTING.type}`, settingHelp(LOG_LEVEL_SETTING))
  .option(`--log-format ${LOG_FORMAT_SETTING.type}`, settingHelp(LOG_FORMAT_SETTING))
  .addHelpText(
    "after",
    `
The first signal gives running jobs one minute to finish. A second signal stops the agent without waiting.
Exit code 3: the coordinator rejects this Island permanently.`,
  )
  .action(async ({ data, ...flags }: DataOptions & Record<string, string>) =>
    start(dataDirectoryOf(data === undefined ? {} : { data }), flags),
  );

addStatusCommands(program, addDataOptions, dataDirectoryOf);

addDataOptions(program.command("doctor"))
  .description(
    "Check the runtimes, the hardware, the connection and the speed; the exit code is 1 if no runtime and no engine is usable",
  )
  .option("--model <file>", "GGUF model to measure tokens per second (default: a small shipped model)")
  .option("--json", "print JSON")
  .action(async (options: DataOptions & { model?: string; json?: true }) => {
    const { examineHost } = await import("../../island-agent/cli/doctor-command.ts");
    const steps = options.json === true ? null : openStepLine(process.stderr);
    const { text, isFit } = await examineHost({
      dataDirectory: dataDirectoryOf(options),
      env: process.env,
      clock: systemClock,
      modelPath: resolve(options.model ?? join(packageRoot, "catalog", "models", "tiny-islander.gguf")),
      asJson: options.json === true,
      onStep: (what) => steps?.show(`Checking ${what} …`),
    }).finally(() => steps?.clear());
    if (options.json === true) printJson(JSON.parse(text));
    else console.log(plainLines(text));
    if (!isFit) process.exitCode = 1;
  });

addDataOptions(program.command("pause"))
  .description("Reject new jobs until `island resume`, even across restarts; running jobs finish")
  .option("--json", "print JSON")
  .action(async (options: DataOptions) => {
    const message = await setPause(dataDirectoryOf(options), true);
    print(options, { paused: true, message }, message);
  });
addDataOptions(program.command("resume"))
  .description("Accept jobs again")
  .option("--json", "print JSON")
  .action(async (options: DataOptions) => {
    const message = await setPause(dataDirectoryOf(options), false);
    print(options, { paused: false, message }, message);
  });
addDataOptions(program.command("drain"))
  .description("Reject new jobs, finish the running jobs without a time limit, and stop the agent")
  .option("--json", "print JSON")
  .action(async (options: DataOptions) => {
    const message = await drain(dataDirectoryOf(options));
    print(options, { draining: true, message }, message);
  });

addLeaveCommand(program, addDataOptions, dataDirectoryOf);
addEnginesCommands(program, addDataOptions, dataDirectoryOf);
addModelsCommands(program, addDataOptions, dataDirectoryOf);
addRuntimesCommands(program, addDataOptions, dataDirectoryOf);

addDataOptions(program.command("install-service"))
  .description("Install the agent as a service (systemd on Linux, launchd on macOS)")
  .option(
    "--system",
    "install a system service, which also runs while you are logged out; requires administrator rights",
  )
  .option("--print", "print the service file, without installing it")
  .option("--remove", "stop the service and delete its file")
  .action(async (options: DataOptions & { system?: true; print?: true; remove?: true }) => {
    const { installService, printService, removeService } = await import("../../island-agent/cli/service-commands.ts");
    const systemUser = options.system === true ? (process.env["SUDO_USER"] ?? userInfo().username) : null;
    const home = systemUser === null || process.platform === "win32" ? homedir() : await homeOf(systemUser);
    // With sudo, HOME belongs to the administrator. The service needs the directory of the user it runs as.
    const chosen = options.data ?? process.env["ATOLL_ISLAND_DATA"];
    const env = systemUser === null ? process.env : { HOME: home };
    const dataDirectory = resolve(chosen ?? defaultDataDirectory(env, process.platform));
    const service = {
      platform: process.platform,
      home,
      command: [process.execPath, process.argv[1] ?? "", "start", "--data", dataDirectory],
      dataDirectory,
      systemUser,
    };
    if (options.print === true) return console.log(printService(service).trimEnd());
    if (options.remove === true) return console.log(await removeService(service));
    const { text, isStarted } = await installService(service);
    console.log(text);
    if (!isStarted) process.exitCode = 1;
  });

addConfigCommands(program, addDataOptions, dataDirectoryOf);

groupCommands(program, COMMAND_GROUPS);
dropUnreadOutput();
explainUsageBriefly(program);
try {
  await program.parseAsync();
} catch (error) {
  process.exit(reportError(error, { asJson: process.argv.includes("--json") }));
}

function addDataOptions(command: Command): Command {
  return command.option("--data <directory>", "directory of this Island's settings and models");
}

async function start(dataDirectory: string, flags: Readonly<Record<string, string>>): Promise<void> {
  runBelowOthers();
  const { openLog } = await import("./terminal/open-log.ts");
  const { startAgent } = await import("../../island-agent/cli/start-command.ts");
  const agent = await startAgent({
    dataDirectory,
    flags,
    env: process.env,
    pid: process.pid,
    version,
    clock: systemClock,
    onConnected: (summary) => console.log(`connected to ${summary}`),
    openLog,
  });
  let stops = 0;
  const stop = (): void => {
    stops += 1;
    if (stops === 1) void agent.drain();
    else if (stops === 2) void agent.stop();
    else process.exit(130);
  };
  // Until here a signal ends the process immediately (bin/island.ts). This is safe, because the stored data also
  // survives a power cut.
  onStopSignal(stop);
  const reason = await agent.ended;
  if (stops === 0 && !agent.isDraining()) {
    console.error(`The Island stopped: ${reason}`);
    process.exitCode = REFUSED_EXIT_CODE;
  }
}

/**
 * Lets other programs of the session run first, such as an engine that the Island lends. Processes that the agent
 * starts inherit the priority.
 */
function runBelowOthers(): void {
  const { PRIORITY_BELOW_NORMAL } = constants.priority;
  try {
    // A higher priority than the current one would need privileges.
    if (getPriority() < PRIORITY_BELOW_NORMAL) setPriority(PRIORITY_BELOW_NORMAL);
  } catch {
    // A service whose system calls are filtered keeps its priority, and works without another one.
  }
}
