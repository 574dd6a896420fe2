import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { systemClock } from "../../shared/clock.ts";
import { drain, setPause } from "../../island-agent/cli/availability-commands.ts";
import { homeOf } from "../../island-agent/service/home-of.ts";
import { SENT_AWAY_EXIT_CODE } from "../../island-agent/service/service-file.ts";
import { askAgent } from "../../island-agent/control/control-client.ts";
import { describeBriefly, describeHistory, readHistory } from "../../island-agent/cli/history-command.ts";
import { describeStatus, readStatus } from "../../island-agent/cli/status-command.ts";
import { CliError } from "../../shared/errors.ts";
import { defaultDataDirectory } from "../../island-agent/cli/data-directory.ts";
import { packageRoot, readVersion } from "./package-info.ts";
import type { JoinCredential } from "../../island-agent/cli/join-command.ts";
import { askSecret, canAsk, readSecret } from "./ask-secret.ts";
import { addModelsCommands } from "./models-commands.ts";
import { addRuntimesCommands } from "./runtimes-commands.ts";
import { reportError } from "./report-error.ts";
import { explainUsageBriefly } from "./usage-errors.ts";
import { onStopSignal } from "./stop-signals.ts";

// Commands load their modules when they run, because most of the agent is needed by `start` only.
const version = await readVersion();

interface DataOptions {
  data?: string;
}

interface JoinFlags {
  token?: string;
  code?: string;
  fingerprint?: string;
  newCoordinator?: true;
}

/** Absolute, because sandboxed processes have another working directory. */
const dataDirectoryOf = (options: DataOptions): string =>
  resolve(options.data ?? process.env["ATOLL_ISLAND_DATA"] ?? defaultDataDirectory(process.env, process.platform));

const program = new Command("island")
  .description("Makes this machine an Island: it runs jobs for an Atoll coordinator.")
  .version(version);

onDataDirectory(program.command("join"))
  .description("Store the coordinator's address and key and this Island's token, once.")
  .argument(
    "<url...>",
    "the coordinator, for example https://atoll.example; of a network with several, any that this machine reaches",
  )
  .option(
    "--code <ABCD-EFGH>",
    "pairing code of your account, valid for ten minutes and once; without code and token, join asks",
  )
  .option(
    "--token <it_…>",
    "Island token in place of a code; - reads it from standard input (default: $ISLAND_COORDINATOR_TOKEN)",
  )
  .option(
    "--fingerprint <SHA256:…>",
    "fingerprint of the coordinator's key, from its operator; without it the key is trusted at the first join",
  )
  .option("--new-coordinator", "join a different coordinator than before and trust its key")
  .action(async (urls: string[], options: DataOptions & JoinFlags) => {
    const { joinNetwork, plainHttpWarning } = await import("../../island-agent/cli/join-command.ts");
    for (const url of urls) {
      const warning = plainHttpWarning(url);
      if (warning !== null) console.error(warning);
    }
    const shown = await joinNetwork({
      urls,
      credential: await readCredential(options),
      fingerprint: options.fingerprint,
      isNewCoordinator: options.newCoordinator === true,
      dataDirectory: dataDirectoryOf(options),
    });
    console.log(
      `Joined ${urls.join(", ")}. Next: island start${options.data === undefined ? "" : ` --data ${options.data}`}`,
    );
    console.log(`Only Cargos signed by its key run here: ${shown}`);
  });

onDataDirectory(program.command("start"))
  .description(
    "Run jobs until SIGTERM. Running jobs then have a minute to finish; a second SIGTERM does not wait. Exit code 3: the coordinator refuses this Island for good.",
  )
  .option("--log-level <level>", "lowest level that is logged")
  .option("--log-format <format>", "json or text (default: text at a terminal, json elsewhere)")
  .action(async ({ data, ...flags }: DataOptions & Record<string, string>) =>
    start(dataDirectoryOf(data === undefined ? {} : { data }), flags),
  );

onDataDirectory(program.command("status"))
  .description("Show what the agent runs, what the Island earned, and its last jobs.")
  .option("--verbose", "show all that the agent knows of itself")
  .option("--json", "print JSON")
  .action(async (options: DataOptions & { json?: true; verbose?: true }) => {
    const directory = dataDirectoryOf(options);
    const status = await readStatus(directory);
    if (status === null) process.exitCode = 1;
    if (options.json === true) return console.log(JSON.stringify(status));
    if (status === null || options.verbose === true) return console.log(describeStatus(status));
    // An agent of an earlier version does not tell.
    const history = await readHistory(directory).catch(() => null);
    console.log(history === null ? describeStatus(status) : describeBriefly(status, history, systemClock.now()));
  });

onDataDirectory(program.command("history"))
  .description("Show the last jobs that ran here: Cargo, when, how long, how they ended, what they earned.")
  .option("--limit <number>", "how many, at most 200", "20")
  .option("--json", "print JSON")
  .action(async (options: DataOptions & { json?: true; limit: string }) => {
    const limit = Number(options.limit);
    if (!Number.isInteger(limit) || limit < 1) throw new CliError("--limit takes a whole number from 1 on");
    const history = await readHistory(dataDirectoryOf(options));
    if (history === null) process.exitCode = 1;
    console.log(options.json === true ? JSON.stringify(history) : describeHistory(history, limit));
  });

onDataDirectory(program.command("metrics"))
  .description(
    "Print the agent's figures in Prometheus' text format, for example for node_exporter's textfile collector.",
  )
  .action(async (options: DataOptions) => {
    const text = await askAgent<string>(dataDirectoryOf(options), "/metrics");
    if (text === undefined) throw new CliError("No agent runs on this data directory: start one with island start");
    process.stdout.write(text);
  });

onDataDirectory(program.command("doctor"))
  .description(
    "Show what can run here, the connection to the coordinator, and measured speed. Exit code 1 if nothing can run.",
  )
  .option("--model <file>", "a GGUF file to measure tokens per second with, instead of the small shipped one")
  .option("--json", "print JSON")
  .action(async (options: DataOptions & { model?: string; json?: true }) => {
    const { examineHost } = await import("../../island-agent/cli/doctor-command.ts");
    const { text, isFit } = await examineHost({
      dataDirectory: dataDirectoryOf(options),
      env: process.env,
      clock: systemClock,
      modelPath: resolve(options.model ?? join(packageRoot, "catalog", "models", "tiny-islander.gguf")),
      asJson: options.json === true,
    });
    console.log(text);
    if (!isFit) process.exitCode = 1;
  });

onDataDirectory(program.command("pause"))
  .description("Take no new jobs until resume, also after a restart. Running jobs finish.")
  .action(async (options: DataOptions) => console.log(await setPause(dataDirectoryOf(options), true)));
onDataDirectory(program.command("resume"))
  .description("Take jobs again.")
  .action(async (options: DataOptions) => console.log(await setPause(dataDirectoryOf(options), false)));
onDataDirectory(program.command("drain"))
  .description("Take no new jobs, finish the running ones, however long they take, and end the agent.")
  .action(async (options: DataOptions) => console.log(await drain(dataDirectoryOf(options))));

addModelsCommands(program, onDataDirectory, dataDirectoryOf);
addRuntimesCommands(program, onDataDirectory, dataDirectoryOf);

onDataDirectory(program.command("install-service"))
  .description("Keep the agent running as a service: systemd on Linux, launchd on macOS.")
  .option(
    "--system",
    "a service of the whole machine, which runs also while you are logged out; needs an administrator",
  )
  .option("--print", "show the service's file and do nothing")
  .option("--remove", "stop the service and delete its file")
  .action(async (options: DataOptions & { system?: true; print?: true; remove?: true }) => {
    const { installService, printService, removeService } = await import("../../island-agent/cli/service-commands.ts");
    const systemUser = options.system === true ? (process.env["SUDO_USER"] ?? userInfo().username) : null;
    const home = systemUser === null || process.platform === "win32" ? homedir() : await homeOf(systemUser);
    // With sudo, HOME is the administrator's. The service needs the directory of the user it runs as.
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

const config = program.command("config").description("Read and change the settings of this Island.");
onDataDirectory(config.command("get"))
  .argument("[key]", "for example models.disk_budget_gb; without a key all are shown")
  .action(async (key: string | undefined, options: DataOptions) => {
    const { configCommand } = await importConfigCommand();
    console.log(await configCommand.get(dataDirectoryOf(options), process.env, key));
  });
onDataDirectory(config.command("set"))
  .argument("<key>")
  .argument("<value>")
  .action(async (key: string, value: string, options: DataOptions) => {
    const { configCommand } = await importConfigCommand();
    say(await configCommand.set(dataDirectoryOf(options), key, value));
  });
onDataDirectory(config.command("unset"))
  .description("Remove a setting from the file, so that its default applies.")
  .argument("<key>")
  .action(async (key: string, options: DataOptions) => {
    const { configCommand } = await importConfigCommand();
    say(await configCommand.unset(dataDirectoryOf(options), key));
  });
onDataDirectory(config.command("path")).action(async (options: DataOptions) => {
  const { configCommand } = await importConfigCommand();
  console.log(configCommand.path(dataDirectoryOf(options)));
});

explainUsageBriefly(program);
try {
  await program.parseAsync();
} catch (error) {
  process.exit(reportError(error, { asJson: process.argv.includes("--json") }));
}

function importConfigCommand() {
  return import("../../island-agent/cli/config-command.ts");
}

function say(text: string | null): void {
  if (text !== null) console.log(text);
}

function onDataDirectory(command: Command): Command {
  return command.option("--data <directory>", "where this Island keeps its settings and models");
}

/** From the flags, standard input, the environment or the terminal: other users of the machine can read flags. @throws {CliError} */
async function readCredential({ token: flag, code }: JoinFlags): Promise<JoinCredential> {
  if (code !== undefined) {
    if (flag !== undefined) throw new CliError("Give --code or --token, not both");
    return { code };
  }
  if (flag === "-") return { token: (await readSecret("Island token: ")).trim() };
  const token = flag ?? process.env["ISLAND_COORDINATOR_TOKEN"];
  if (token !== undefined) return { token };
  if (!canAsk()) {
    throw new CliError("No code or token: give --code, set ISLAND_COORDINATOR_TOKEN, or pipe a token to --token -");
  }
  const typed = (await askSecret("Pairing code or Island token (not shown): ")).trim();
  return typed.startsWith("it_") ? { token: typed } : { code: typed };
}

async function start(dataDirectory: string, flags: Readonly<Record<string, string>>): Promise<void> {
  const { openLog } = await import("./open-log.ts");
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
  // Until here a signal ends the process at once (bin/island.ts): what it has opened is left as after a power cut.
  onStopSignal(stop);
  const reason = await agent.ended;
  if (stops === 0 && !agent.isDraining()) {
    console.error(`The Island stopped: ${reason}`);
    process.exitCode = SENT_AWAY_EXIT_CODE;
  }
}
