import { type Command, Option } from "commander";
import type { CreateKeyParams } from "../../../coordinator/accounts/api-keys.ts";
import { creditsFromMicro, microFromCredits } from "../../../coordinator/credits/micro-credits.ts";
import { type Trust, TRUSTS } from "../../../coordinator/credits/trust.ts";
import type { ApiKey } from "../../../coordinator/store/accounts/credentials.ts";
import type { KeyLimits } from "../../../coordinator/store/accounts/key-spending.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { fixed, flexible } from "../../../shared/cli/text-table.ts";
import { ownerCommand, readNumber, revoke, withOwner, type OwnerOptions } from "./account-commands.ts";
import { readDataOptions } from "./data-commands.ts";
import { age, isoTime, listOf, operatorCargosOf } from "./operator-tools.ts";
import { coordinatorName } from "../terminal/command-line.ts";
import { print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";

interface CreateKeyOptions extends OwnerOptions {
  readonly name?: string;
  readonly scopes?: string;
  readonly expiresAt?: string;
  readonly cargos?: string;
  readonly creditsPerMonth?: string;
  readonly trust?: Trust;
}

/** Adds `key`, the commands for API keys of an account. They work with or without a running coordinator. */
export function addKeyCommands(program: Command): void {
  const key = program.command("key").description("Manage the API keys of an account");
  ownerCommand(key, "create", "Create an API key; its secret is shown only once")
    .option("--name <text>", "label of the key")
    .option("--scopes <list>", "scopes of the key, separated by a comma: read, write")
    .option("--expires-at <time>", "expiry, for example 2027-01-31 or 2027-01-31T12:00:00Z (default: never)")
    .option("--cargos <list>", "slugs of the Cargos that the key may run, separated by commas (default: all)")
    .option(
      "--credits-per-month <credits>",
      "maximum cost of the key's jobs per calendar month in UTC (default: no limit)",
    )
    .addOption(new Option("--trust <trust>", "trust of jobs that name none (default: any)").choices(TRUSTS))
    .action(createKey);
  ownerCommand(key, "list", "List the active API keys, newest first").action(listKeys);
  ownerCommand(key, "revoke", "Revoke an API key, immediately")
    .requiredOption("--id <key_…>", "id of the key, as `key list` shows it")
    .action(async (options: OwnerOptions & { id: string }) => {
      await revoke(options, "API key", (accounts, ownerId) => accounts.revokeKey(ownerId, options.id));
    });
}

async function createKey(options: CreateKeyOptions): Promise<void> {
  const limits = readLimits(options);
  await withOwner(options, async (accounts, ownerId, store) => {
    await assertKnown(limits.cargos ?? [], options, store);
    const params: CreateKeyParams = {
      name: options.name,
      scopes: options.scopes?.split(","),
      limits,
      trust: options.trust,
    };
    const made = await accounts.createKey(ownerId, params);
    const { id, name, prefix, scopes } = made.key;
    print(
      options,
      { id, name, prefix, scopes, ...presentLimits(made.key), trust: made.key.trust, key: made.secret },
      made.secret,
    );
  });
}

async function listKeys(options: OwnerOptions): Promise<void> {
  await withOwner(options, async (accounts, ownerId) => {
    const stored = await accounts.listKeys(ownerId);
    const keys = stored.map((key) => ({
      id: key.id,
      name: key.name,
      prefix: key.prefix,
      scopes: key.scopes,
      ...presentLimits(key),
      trust: key.trust,
      created_at: isoTime(key.createdAtMs),
      last_used_at: key.lastUsedAtMs === null ? null : isoTime(key.lastUsedAtMs),
    }));
    const columns = ["KEY", "PREFIX", "SCOPES", "CREATED", "LAST USED", "LIMITS"].map(fixed);
    const rows = stored.map((key) => [
      key.id,
      `${key.prefix}…`,
      key.scopes.join(","),
      age(key.createdAtMs),
      key.lastUsedAtMs === null ? "never" : age(key.lastUsedAtMs),
      limitsInWords(key),
      key.name,
    ]);
    print(options, keys, listOf([...columns, flexible("NAME")], rows, { none: "No active API keys" }));
  });
}

function limitsInWords(key: ApiKey): string {
  const { expires_at, cargos, credits_per_month } = presentLimits(key);
  const limits = [
    expires_at === null ? [] : `until ${expires_at}`,
    cargos === null ? [] : `for ${cargos.join(",")}`,
    credits_per_month === null ? [] : `${credits_per_month} credits per month`,
    key.trust === null ? [] : `trust ${key.trust}`,
  ].flat();
  return limits.length === 0 ? "none" : limits.join(", ");
}

/** Returns the limits in the format of the API. */
function presentLimits({ expiresAtMs, cargos, monthlyMicro }: KeyLimits) {
  return {
    expires_at: expiresAtMs === null ? null : isoTime(expiresAtMs),
    cargos,
    credits_per_month: monthlyMicro === null ? null : creditsFromMicro(monthlyMicro),
  };
}

/** @throws {UsageError} */
function readLimits({ expiresAt, cargos, creditsPerMonth }: CreateKeyOptions): Partial<KeyLimits> {
  return {
    ...(expiresAt === undefined ? {} : { expiresAtMs: readTime(expiresAt) }),
    ...(cargos === undefined ? {} : { cargos: cargos.split(",").map((slug) => slug.trim()) }),
    ...(creditsPerMonth === undefined ? {} : { monthlyMicro: readCredits(creditsPerMonth) }),
  };
}

/** Parses a time to ms since 1970; a date without a time means 00:00 UTC. @throws {UsageError} */
function readTime(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z)?$/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new UsageError(
    `--expires-at: must be a time such as 2027-01-31 or 2027-01-31T12:00:00Z, got ${JSON.stringify(text)}`,
  );
}

/** @throws {UsageError} */
function readCredits(text: string): number {
  const flag = "--credits-per-month";
  const credits = readNumber(flag, text);
  try {
    return microFromCredits(credits);
  } catch (cause) {
    throw new UsageError(`${flag}: must have at most 6 decimals and be at most 4000000000, got ${text}`, { cause });
  }
}

/** Rejects unknown slugs: a key with only a misspelled slug could not run any job. @throws {UsageError} */
async function assertKnown(slugs: readonly string[], options: OwnerOptions, store: Store): Promise<void> {
  if (slugs.length === 0) return;
  const { config } = await readDataOptions(options);
  const lines = await (await operatorCargosOf(store, config)).list();
  const all = new Set(lines.map(({ slug }) => slug));
  const unknown = slugs.filter((slug) => !all.has(slug));
  if (unknown.length > 0)
    throw new UsageError(
      unknown
        .map((slug) => `--cargos: no Cargo has the slug "${slug}". List all with: ${coordinatorName()} cargo list`)
        .join("\n"),
    );
}
