import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { pino } from "pino";
import { AccountService } from "../../coordinator/accounts/account-service.ts";
import { describeConfig, resolveConfig, type CoordinatorConfig } from "../../coordinator/config/resolve-config.ts";
import { openCoordinator, openStore } from "../../coordinator/coordinator.ts";
import type { Store } from "../../coordinator/store/store.ts";
import { systemClock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { ConfigError } from "../../shared/settings.ts";
import { packageRoot, readVersion } from "./package.ts";

const version = await readVersion();

const program = new Command("coordinator")
  .description("Runs an Atoll coordinator and manages its data directory.")
  .version(version)
  .showHelpAfterError();

const serveCommand = program
  .command("serve")
  .description("Serve the API and the Islands until SIGTERM or SIGINT.")
  .option("--config <file>", "TOML file with settings (see coordinator/config/example.toml)")
  .option("--data <directory>", "short for --data-directory");
for (const { flag, meaning, fallback } of describeConfig()) {
  if (flag !== null) serveCommand.option(`${flag} <value>`, `${meaning} (default: ${fallback})`);
}
serveCommand.action(async (flags: Record<string, string>) => serve(await configOf(flags)));

const account = program.command("account").description("Accounts of the data directory.");
onDataDirectory(account.command("create"))
  .description("Create an account.")
  .requiredOption("--email <address>", "e-mail address")
  .requiredOption("--password <text>", "password, 8 to 200 characters")
  .option("--credits <number>", "credits that it starts with")
  .action(async (options: DataOptions & { email: string; password: string; credits?: string }) => {
    await withAccounts(options, async (accounts) => {
      const credits = options.credits === undefined ? undefined : Number(options.credits);
      const created = await accounts.createAccount({ email: options.email, password: options.password, credits });
      print(options, { id: created.id, email: created.email, credits: created.balanceMicro / 1e6 }, created.id);
    });
  });

const key = program.command("key").description("API keys.");
onDataDirectory(key.command("create"))
  .description("Create an API key; its secret is shown this once.")
  .requiredOption("--email <address>", "the account's e-mail address")
  .option("--name <text>", "label")
  .option("--scopes <list>", "read, write or both, separated by a comma")
  .action(async (options: DataOptions & { email: string; name?: string; scopes?: string }) => {
    await withAccounts(options, async (accounts, store) => {
      const accountId = await accountIdOf(store, options.email);
      const made = await accounts.createKey(accountId, { name: options.name, scopes: options.scopes?.split(",") });
      const { id, name, prefix, scopes } = made.key;
      print(options, { id, name, prefix, scopes, key: made.secret }, made.secret);
    });
  });

const islandToken = program.command("island-token").description("Tokens by which Islands join.");
onDataDirectory(islandToken.command("create"))
  .description("Create an Island token; earnings of Islands that join with it go to the account.")
  .requiredOption("--email <address>", "the owner's e-mail address")
  .option("--name <text>", "label")
  .action(async (options: DataOptions & { email: string; name?: string }) => {
    await withAccounts(options, async (accounts, store) => {
      const accountId = await accountIdOf(store, options.email);
      const made = await accounts.createIslandToken(accountId, options.name);
      print(options, { id: made.token.id, name: made.token.name, token: made.secret }, made.secret);
    });
  });

try {
  await program.parseAsync();
} catch (error) {
  const isExpected = error instanceof ConfigError || error instanceof ServiceError;
  console.error(isExpected ? error.message : error);
  process.exit(1);
}

interface DataOptions {
  data?: string;
  config?: string;
  json?: true;
}

function onDataDirectory(command: Command): Command {
  return command
    .option("--data <directory>", "the coordinator's data directory; it may be running")
    .option("--config <file>", "TOML file with settings")
    .option("--json", "print JSON");
}

function print(options: DataOptions, value: object, text: string): void {
  console.log(options.json === true ? JSON.stringify(value) : text);
}

async function configOf({ config, data, ...flags }: Record<string, unknown>): Promise<CoordinatorConfig> {
  const toml = typeof config === "string" ? { name: config, text: await readFile(config, "utf8") } : null;
  return resolveConfig({
    flags: data === undefined ? flags : { ...flags, dataDirectory: data },
    env: process.env,
    toml,
    shippedCatalogDirectory: join(packageRoot, "catalog"),
  });
}

async function withAccounts(
  options: DataOptions,
  use: (accounts: AccountService, store: Store) => Promise<void>,
): Promise<void> {
  const config = await configOf({ config: options.config, data: options.data });
  const store = await openStore(config.dataDirectory, systemClock);
  try {
    const { newAccountMicro, registration } = config;
    const log = pino({ level: config.logLevel }, pino.destination(2));
    await use(
      new AccountService({ store: store.accounts, clock: systemClock, newAccountMicro, registration, log }),
      store,
    );
  } finally {
    await store.close();
  }
}

async function accountIdOf(store: Store, email: string): Promise<string> {
  const found = await store.accounts.getByEmail(email);
  if (found === undefined) throw new ServiceError("not_found", `There is no account ${email}`);
  return found.id;
}

async function serve(config: CoordinatorConfig): Promise<void> {
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }));
  const coordinator = await openCoordinator({
    config,
    clock: systemClock,
    log,
    version,
    onFatal: (error) => {
      log.fatal({ err: error }, "Storage failed; ending, to start again from what is stored");
      process.exit(70);
    },
  });
  console.log(`listening on ${coordinator.url}`);
  let isStopping = false;
  const stop = (signal: string): void => {
    // A second signal does not wait for what is still being answered.
    if (isStopping) process.exit(130);
    isStopping = true;
    log.info({ signal }, "Stopping");
    coordinator.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "Did not stop in order");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}
