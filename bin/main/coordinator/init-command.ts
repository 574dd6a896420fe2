import { existsSync, rmSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { assertPassword, EMAIL_PATTERN, MAX_EMAIL } from "../../../coordinator/accounts/credential-fields.ts";
import { CliError } from "../../../shared/errors.ts";
import { urlHost } from "../../../shared/net/url-host.ts";
import type { AccountDetails, CreatedAccount } from "./account-commands.ts";
import { askUntilValid } from "../terminal/ask-again.ts";
import { askLine, canAsk } from "../terminal/ask.ts";
import { coordinatorName, islandName } from "../terminal/command-line.ts";
import { configFlag, configFrom } from "./coordinator-config.ts";
import { tomlWith } from "./example-config.ts";
import { packageRoot } from "../package-info.ts";
import { print } from "../terminal/print.ts";
import { PASSWORD_HELP, readNewPassword } from "../terminal/read-password.ts";
import { UsageError } from "../terminal/usage-errors.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface InitOptions {
  readonly email?: string;
  readonly password?: string;
  readonly host?: string;
  readonly port?: string;
  readonly publicUrl?: string;
  readonly json?: true;
}

type MakeAccount = (options: { readonly config: string }, details: AccountDetails) => Promise<CreatedAccount>;

/**
 * Adds `coordinator init`, which creates a configuration, the operator's account, an API key and an Island token, and
 * prints the next steps.
 */
export function addInitCommand(program: Command, makeAccount: MakeAccount): void {
  program
    .command("init")
    .argument("[directory]", "directory for the configuration and the data", "atoll")
    .description("Create a network: a configuration, the operator's account, an API key and an Island token")
    .option("--email <address>", "e-mail address of the operator (default: $ATOLL_EMAIL, or a prompt)")
    .option("--password <text>", PASSWORD_HELP)
    .option("--host <address>", "address to listen on, stored in the configuration")
    .option("--port <port>", "port to listen on, stored in the configuration")
    .option("--public-url <url>", "URL at which clients and Islands reach the coordinator, stored in the configuration")
    .option("--json", "print JSON")
    .action(async (directory: string, options: InitOptions) => init(resolve(directory), options, makeAccount));
}

async function init(directory: string, options: InitOptions, makeAccount: MakeAccount): Promise<void> {
  const file = join(directory, "atoll.toml");
  // All checks and questions come before the first write, so that an interrupted init leaves nothing behind.
  const text = await configText(directory, options);
  const { host, port, publicUrl } = options;
  const config = await configFrom(null, { host, port, publicUrl });
  if (existsSync(file)) throw alreadyExistsError(file);
  const params = { email: await readEmail(options.email), password: await readNewPassword(options.password) };
  assertPassword(params.password, "password");
  await mkdir(directory, { recursive: true });
  await writeNew(file, text);
  const account = await deleteOnFailure(file, () =>
    makeAccount({ config: file }, { ...params, withKey: true, withIslandToken: true, isOperator: true }),
  );
  const url = config.publicUrl ?? `http://${reachable(config.host)}:${config.port}`;
  const { email } = params;
  const { id, key, islandToken } = account;
  const serve = `${coordinatorName()} serve${configFlag(file)}`;
  const island = islandName();
  print(
    options,
    { config: file, url, account_id: id, email, key, island_token: islandToken, next: serve },
    [
      `Created ${file} and the account ${email}. Keep both secrets: they are not shown again.`,
      `API key       ${key}`,
      `Island token  ${islandToken}`,
      `\nNext, start the coordinator:\n  ${serve}`,
      `Open the console in your browser:\n  ${url}`,
      `Run these commands on each machine that runs jobs (join asks for the Island token):\n  ${island} join ${url}\n  ${island} start`,
    ].join("\n"),
  );
}

/** Returns the commented example, with the values of the flags and with a data directory in the same folder. */
async function configText(directory: string, { host, port, publicUrl }: InitOptions): Promise<string> {
  const example = await readFile(join(packageRoot, "coordinator", "config", "example.toml"), "utf8");
  const isExposed = host !== undefined || publicUrl !== undefined;
  return tomlWith(example, {
    data_directory: join(directory, "data"),
    host,
    port: port === undefined ? undefined : readPort(port),
    public_url: publicUrl,
    registration: isExposed ? "closed" : undefined,
  });
}

/** @throws {UsageError} */
function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port: must be an integer from 0 to 65535, got ${JSON.stringify(text)}`);
}

/** Creates the file, readable only by its owner because it may hold secrets. @throws {CliError} if the file exists. */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST" ? alreadyExistsError(file, error) : error;
  }
}

function alreadyExistsError(file: string, cause?: unknown): CliError {
  const serve = `${coordinatorName()} serve${configFlag(file)}`;
  return new CliError(`${file} already exists, and nothing was changed. Start this network with: ${serve}`, { cause });
}

/** Deletes the configuration if `make` fails or is interrupted. Otherwise the next init would report it as complete. */
async function deleteOnFailure<T>(file: string, make: () => Promise<T>): Promise<T> {
  const giveUp = (): void => {
    rmSync(file, { force: true });
    process.exit(1);
  };
  for (const signal of STOP_SIGNALS) process.once(signal, giveUp);
  try {
    return await make();
  } catch (error) {
    await rm(file);
    throw error;
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, giveUp);
  }
}

/** @throws {UsageError | CliError} */
async function readEmail(flag: string | undefined): Promise<string> {
  const problemOf = (email: string): string | null =>
    email.length <= MAX_EMAIL && EMAIL_PATTERN.test(email)
      ? null
      : `E-mail address must look like you@example.com, got ${JSON.stringify(email)}`;
  const given = flag ?? process.env["ATOLL_EMAIL"];
  if (given === undefined && canAsk())
    return askUntilValid(() => askLine("E-mail address of the operator: "), problemOf);
  if (given === undefined) throw new UsageError("No e-mail address was given. Give --email or set ATOLL_EMAIL");
  const problem = problemOf(given);
  if (problem !== null) throw new UsageError(problem);
  return given;
}

/** Returns the host at which this machine can reach a coordinator that listens on `host`. */
function reachable(host: string): string {
  return ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : urlHost(host);
}
