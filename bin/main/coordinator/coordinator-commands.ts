import { flushCompileCache } from "node:module";
import { Command, Option } from "commander";
import { describeConfig } from "../../../coordinator/config/resolve-config.ts";
import { systemClock } from "../../../shared/clock.ts";
import { addAccountCommands, makeAccount } from "./account-commands.ts";
import { addBackupCommand } from "./backup-command.ts";
import { addCargoCommands } from "./cargo-commands.ts";
import { addCheckCommand } from "./check-command.ts";
import { addClusterKeyCommands } from "./cluster-key-commands.ts";
import { configFrom, findConfigFile } from "./coordinator-config.ts";
import { accountIdOf, addDataOptions, withStore } from "./data-commands.ts";
import { addInitCommand } from "./init-command.ts";
import { addKeyCommands } from "./key-commands.ts";
import { addLedgerCommands, addLimitsCommand } from "./ledger-commands.ts";
import { addMigrateCommand } from "./migrate-command.ts";
import { addNetworkCommands } from "./network-commands.ts";
import { addOperatorCommands } from "./operator-commands.ts";
import { groupCommands } from "../terminal/command-groups.ts";
import { coordinatorName } from "../terminal/command-line.ts";
import { print } from "../terminal/print.ts";
import { addSigningKeyCommands } from "./signing-key-commands.ts";
import { explainUsageBriefly } from "../terminal/usage-errors.ts";
import { addVacuumCommand } from "./vacuum-command.ts";

/** Delay before the compile cache is flushed. The flush takes 0.3 s and must not delay the first requests. */
const FLUSH_AFTER_MS = 10_000;

/** Headings in the help, each with its commands. */
const COMMAND_GROUPS = {
  "Start a network:": ["init", "serve"],
  "Accounts:": ["account", "key", "island-token", "credits"],
  "Network:": ["status", "queue", "job", "island", "cargo", "standing", "announcement", "audit"],
  "Data and keys:": ["backup", "check", "vacuum", "migrate", "ledger", "signing-key", "cluster-key"],
};

/** Returns all commands of `coordinator`. If a command fails, parsing rejects with its error. */
export function coordinatorCommands(version: string): Command {
  const name = coordinatorName();
  const program = new Command(name)
    .description("Run an Atoll coordinator and manage its network.")
    .version(version)
    .addHelpText(
      "after",
      `
To start a network (init asks for your e-mail address and a password):
  ${name} init
  ${name} serve
Settings file, the first that exists: --config, $ATOLL_CONFIG, ./atoll.toml, ./atoll/atoll.toml. With --data or --store, the last two are not read.
Exit codes: 0 success, 1 failure, 2 usage error.`,
    );
  const serveCommand = program
    .command("serve")
    .description("Serve the API and Islands until SIGTERM or SIGINT")
    .option("--config <file>", "file with settings (TOML), see coordinator/config/example.toml")
    .option("--data <directory>", "same as --data-directory")
    .action(async (flags: Record<string, string>) => {
      // The module is loaded here, because the other commands do not need the server.
      const { serve } = await import("./serve.ts");
      const { config, ...settings } = flags;
      const file = findConfigFile({ config, data: flags["data"] ?? flags["dataDirectory"], store: flags["store"] });
      await serve(await configFrom(file, settings), version, file);
      // Flushes NODE_COMPILE_CACHE, so that a process that is killed later still leaves its compiled code.
      systemClock.schedule(FLUSH_AFTER_MS, () => flushCompileCache());
    });
  const settings = describeConfig();
  for (const { flag, type, meaning, fallback, group } of settings) {
    if (flag === null) continue;
    serveCommand.addOption(new Option(`${flag} ${type}`, `${meaning} (default: ${fallback})`).helpGroup(`${group}:`));
  }
  const secrets = settings.filter(({ flag }) => flag === null).map(({ env }) => env);
  serveCommand.addHelpText(
    "after",
    `
Every setting can also be set by an environment variable or in the settings file: --chat-wait-s 30, ATOLL_CHAT_WAIT_S=30, chat_wait_s = 30.
Secrets have no flag: ${secrets.join(", ")}.`,
  );
  addInitCommand(program, makeAccount);
  const tools = { addDataOptions, print, withStore };
  const account = addAccountCommands(program);
  addKeyCommands(program);
  addOperatorCommands(program);
  addNetworkCommands(program, account);
  addCargoCommands(program, tools);
  addBackupCommand(program);
  addCheckCommand(program);
  addSigningKeyCommands(program);
  addClusterKeyCommands(program);
  addVacuumCommand(program);
  addMigrateCommand(program);
  const ledgerTools = { ...tools, accountIdOf, fail: () => void (process.exitCode = 1) };
  addLimitsCommand(account, ledgerTools);
  addLedgerCommands(program, ledgerTools);
  groupCommands(program, COMMAND_GROUPS);
  explainUsageBriefly(program);
  return program;
}
