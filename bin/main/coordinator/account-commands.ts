import type { Command } from "commander";
import { pino } from "pino";
import { openAccounts, type Accounts } from "../../../coordinator/accounts/accounts.ts";
import { unsharedCredentials } from "../../../coordinator/cluster/credential-watch.ts";
import { creditsFromMicro } from "../../../coordinator/credits/micro-credits.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { fixed, flexible } from "../../../shared/cli/text-table.ts";
import { accountIdOf, addDataOptions, withStore, type DataOptions } from "./data-commands.ts";
import { auditedAccounts } from "./audited-accounts.ts";
import { age, commandActor, isoTime, listOf, operatorAccountsOf } from "./operator-tools.ts";
import { coordinatorName } from "../terminal/command-line.ts";
import { print } from "../terminal/print.ts";
import { PASSWORD_HELP, readNewPassword } from "../terminal/read-password.ts";
import { UsageError } from "../terminal/usage-errors.ts";

export interface OwnerOptions extends DataOptions {
  readonly email: string;
}

/** Adds `account` (which is returned) and `island-token`. Both work with or without a running coordinator. */
export function addAccountCommands(program: Command): Command {
  const account = program.command("account").description("Manage accounts");
  dataCommand(account, "create", "Create an account")
    .requiredOption("--email <address>", "e-mail address of the account")
    .option("--password <text>", PASSWORD_HELP)
    .option("--credits <credits>", "initial credits (default: the setting new_account_credits)")
    .option("--with-key", "also create an API key")
    .option("--with-island-token", "also create an Island token")
    .action(createAccount);
  ownerCommand(
    account,
    "reset-password",
    "Create a token that resets the password of an account (valid once, for 24 hours)",
  ).action(resetPassword);

  const islandToken = program.command("island-token").description("Manage the tokens with which Islands join");
  ownerCommand(islandToken, "create", "Create an Island token; Islands that join with it earn credits for the account")
    .option("--name <text>", "label of the token")
    .action(createIslandToken);
  ownerCommand(
    islandToken,
    "pairing-code",
    "Create a pairing code for `island join --code` (valid once, for ten minutes)",
  )
    .option("--name <text>", "label of the token that the code is exchanged for")
    .action(createPairingCode);
  ownerCommand(islandToken, "list", "List the active Island tokens, newest first").action(listIslandTokens);
  ownerCommand(islandToken, "revoke", "Revoke an Island token")
    .requiredOption("--id <itk_…>", "id of the token, as `island-token list` shows it")
    .action(async (options: OwnerOptions & { id: string }) => {
      await revoke(options, "Island token", (accounts, ownerId) => accounts.islandTokens.revoke(ownerId, options.id));
    });
  return account;
}

function dataCommand(parent: Command, name: string, description: string): Command {
  return addDataOptions(parent.command(name).description(description));
}

/** Adds a command for one account. */
export function ownerCommand(parent: Command, name: string, description: string): Command {
  return dataCommand(parent, name, description).requiredOption("--email <address>", "the account's e-mail address");
}

interface CreateAccountOptions extends OwnerOptions {
  readonly password?: string;
  readonly credits?: string;
  readonly withKey?: true;
  readonly withIslandToken?: true;
}

async function createAccount(options: CreateAccountOptions): Promise<void> {
  const credits = options.credits === undefined ? undefined : readNumber("--credits", options.credits);
  const password = await readNewPassword(options.password);
  const { email: address, withKey, withIslandToken } = options;
  const made = await makeAccount(options, { email: address, password, credits, withKey, withIslandToken });
  const { id, email, balanceMicro, key, islandToken } = made;
  print(
    options,
    { id, email, credits: creditsFromMicro(balanceMicro), key, island_token: islandToken },
    [id, key, islandToken].filter((line) => line !== undefined).join("\n"),
  );
}

/** Details of a new account, with the key, token and role to create. */
export interface AccountDetails {
  readonly email: string;
  readonly password: string;
  readonly credits?: number | undefined;
  readonly withKey?: true | undefined;
  readonly withIslandToken?: true | undefined;
  readonly isOperator?: true | undefined;
}

export interface CreatedAccount {
  readonly id: string;
  readonly email: string;
  readonly balanceMicro: number;
  readonly key: string | undefined;
  readonly islandToken: string | undefined;
}

/** Creates an account. Creates the database first if it does not exist. @throws {ServiceError | ConfigError} */
export async function makeAccount(options: DataOptions, details: AccountDetails): Promise<CreatedAccount> {
  const { email, password, credits, withKey, withIslandToken, isOperator } = details;
  return withAccounts(
    options,
    async (accounts, store) => {
      const created = await accounts.createAccount({ email, password, credits });
      if (isOperator === true) await operatorAccountsOf(store).setRole(commandActor(), created.id, "operator");
      const key = withKey && (await accounts.createKey(created.id)).secret;
      const islandToken = withIslandToken && (await accounts.islandTokens.create(created.id)).secret;
      return { id: created.id, email: created.email, balanceMicro: created.balanceMicro, key, islandToken };
    },
    { mayCreate: true },
  );
}

async function resetPassword(options: OwnerOptions): Promise<void> {
  await withOwner(options, async (accounts, ownerId) => {
    const { token, expiresAtMs } = await accounts.passwordChanges.createReset(ownerId);
    const expires_at = isoTime(expiresAtMs);
    const use = `Send this token to the account's owner. To set a new password, POST {"token": …, "new": …} to /api/v1/auth/password/reset, before ${expires_at}`;
    print(options, { token, expires_at }, `${token}\n${use}`);
  });
}

async function createIslandToken(options: OwnerOptions & { name?: string }): Promise<void> {
  await withOwner(options, async (accounts, ownerId) => {
    const { token, secret } = await accounts.islandTokens.create(ownerId, options.name);
    print(options, { id: token.id, name: token.name, token: secret }, secret);
  });
}

async function createPairingCode(options: OwnerOptions & { name?: string }): Promise<void> {
  await withOwner(options, async (accounts, ownerId) => {
    const { code, name, expiresAtMs } = await accounts.islandTokens.createCode(ownerId, options.name);
    print(options, { code, name, expires_at: isoTime(expiresAtMs) }, code);
  });
}

async function listIslandTokens(options: OwnerOptions): Promise<void> {
  await withOwner(options, async (accounts, ownerId) => {
    const listed = await accounts.islandTokens.list(ownerId);
    const tokens = listed.map(({ id, name, createdAtMs, lastUsedAtMs }) => ({
      id,
      name,
      created_at: isoTime(createdAtMs),
      last_used_at: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
    }));
    const columns = [fixed("ISLAND TOKEN"), fixed("CREATED"), fixed("LAST USED"), flexible("NAME")];
    const rows = listed.map(({ id, name, createdAtMs, lastUsedAtMs }) => [
      id,
      age(createdAtMs),
      lastUsedAtMs === null ? "never" : age(lastUsedAtMs),
      name,
    ]);
    print(options, tokens, listOf(columns, rows, { none: "No active Island tokens" }));
  });
}

/** @throws {ServiceError} `not_found` if `act` revoked nothing. */
export async function revoke(
  options: OwnerOptions & { id: string },
  what: "API key" | "Island token",
  act: (accounts: Accounts, ownerId: string) => Promise<boolean>,
): Promise<void> {
  await withOwner(options, async (accounts, ownerId) => {
    if (!(await act(accounts, ownerId))) {
      const command = what === "API key" ? "key" : "island-token";
      const advice = `List the ids with: ${coordinatorName()} ${command} list --email ${options.email}`;
      throw new ServiceError(
        "not_found",
        `${options.email} has no active ${what} with the id ${options.id}. ${advice}`,
      );
    }
    print(options, { id: options.id, revoked: true }, `Revoked ${options.id}`);
  });
}

/** Calls `use` with the account of `--email`. @throws {ServiceError} `not_found` */
export function withOwner(
  options: OwnerOptions,
  use: (accounts: Accounts, ownerId: string, store: Store) => Promise<void>,
): Promise<void> {
  return withAccounts(options, async (accounts, store) => {
    await use(accounts, await accountIdOf(store, options.email), store);
  });
}

async function withAccounts<T>(
  options: DataOptions,
  use: (accounts: Accounts, store: Store) => Promise<T>,
  { mayCreate = false } = {},
): Promise<T> {
  return withStore(
    options,
    async (store, config) => {
      const log = pino({ level: config.logLevel }, pino.destination(2));
      const env = { config, clock: systemClock, log };
      const credentials = unsharedCredentials(store.accounts, env);
      return use(openAccounts(env, auditedAccounts(store), "closed", credentials), store);
    },
    { mayCreate },
  );
}

/** @throws {UsageError} unless `value` is a decimal number. Number() reads an empty text as 0. */
export function readNumber(flag: string, value: string): number {
  if (!/^(\d+\.?\d*|\.\d+)$/.test(value))
    throw new UsageError(`${flag}: must be a decimal number of 0 or more, such as 2.5, got ${JSON.stringify(value)}`);
  return Number(value);
}
