import { flushCompileCache } from "node:module";
import { Command } from "commander";
import { describeConfig } from "../../../coordinator/config/resolve-config.ts";
import { systemClock } from "../../../shared/clock.ts";
import { addAccountCommands, makeAccount } from "./account-commands.ts";
import { addBackupCommand } from "./backup-command.ts";
import { addCargoCommands } from "./cargo-commands.ts";
import { addCheckCommand } from "./check-command.ts";
import { addClusterKeyCommands } from "./cluster-key-commands.ts";
import { configFrom, findConfigFile } from "./coordinator-config.ts";
import { accountIdOf, onDataDirectory, withStore } from "./data-commands.ts";
import { addInitCommand } from "./init-command.ts";
import { addKeyCommands } from "./key-commands.ts";
import { addLedgerCommands, addLimitsCommand } from "./ledger-commands.ts";
import { addMigrateCommand } from "./migrate-command.ts";
import { addNetworkCommands } from "./network-commands.ts";
import { addOperatorCommands } from "./operator-commands.ts";
import { coordinatorName } from "../terminal/command-line.ts";
import { print } from "../terminal/print.ts";
import { addSigningKeyCommands } from "./signing-key-commands.ts";
import { explainUsageBriefly } from "../terminal/usage-errors.ts";
import { addVacuumCommand } from "./vacuum-command.ts";

/** After the start, so that the first requests need not wait for the 0.3 s that it takes. */
const FLUSH_AFTER_MS = 10_000;

/** All commands of `coordinator`. An error of a command rejects its parse. */
export function coordinatorCommands(version: string): Command {
  const name = coordinatorName();
  const program = new Command(name)
    .description("Runs an Atoll coordinator and manages its data.")
    .version(version)
    .addHelpText(
      "after",
      `
A new network (init asks for your e-mail address and a password):
  ${name} init
  ${name} serve
Commands read the settings of --config, else $ATOLL_CONFIG, else ./atoll.toml, else ./atoll/atoll.toml; none of the latter two with --data or --store.
Exit codes: 0 done, 1 failed, 2 wrong call.`,
    );
  const serveCommand = program
    .command("serve")
    .description("Serve the API and Islands until SIGTERM or SIGINT.")
    .option("--config <file>", "TOML file with settings (see coordinator/config/example.toml)")
    .option("--data <directory>", "short for --data-directory")
    .action(async (flags: Record<string, string>) => {
      // Loaded here, because the other commands need no server.
      const { serve } = await import("./serve.ts");
      const { config, ...settings } = flags;
      const file = findConfigFile({ config, data: flags["data"] ?? flags["dataDirectory"], store: flags["store"] });
      await serve(await configFrom(file, settings), version, file);
      // Where NODE_COMPILE_CACHE is set: a process that is killed later leaves what it compiled.
      systemClock.schedule(FLUSH_AFTER_MS, () => flushCompileCache());
    });
  for (const { flag, meaning, fallback } of describeConfig()) {
    if (flag !== null) serveCommand.option(`${flag} <value>`, `${meaning} (default: ${fallback})`);
  }
  addInitCommand(program, makeAccount);
  const tools = { onDataDirectory, print, withStore };
  const account = addAccountCommands(program);
  addKeyCommands(program);
  addNetworkCommands(program, account);
  addOperatorCommands(program);
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
  explainUsageBriefly(program);
  return program;
}
