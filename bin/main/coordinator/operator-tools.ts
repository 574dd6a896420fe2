import { hostname, userInfo } from "node:os";
import { InvalidArgumentError, type Command } from "commander";
import { defaultSlugsOf } from "../../../coordinator/config/default-cargo-settings.ts";
import { readShippedCargos } from "../../../coordinator/catalog/load-catalog.ts";
import { openAnnouncements, type Announcements } from "../../../coordinator/operators/announcements.ts";
import { auditTrail, type Actor, type AuditTrail } from "../../../coordinator/operators/audit-trail.ts";
import { operatorAccounts, type OperatorAccounts } from "../../../coordinator/operators/operator-accounts.ts";
import { operatorCargos, type OperatorCargos } from "../../../coordinator/operators/operator-cargos.ts";
import { operatorIslands, type OperatorIslands } from "../../../coordinator/operators/operator-islands.ts";
import type { CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import type { Page } from "../../../coordinator/store/steps/page.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { formatAge } from "../../../shared/cli/format-age.ts";
import { tableOf, type Column } from "../../../shared/cli/text-table.ts";
import { addDataOptions, withStore, type DataOptions } from "./data-commands.ts";
import { outputWidth } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";

/** Returns the user and host of this command, for the audit log. */
export function commandActor(): Actor {
  return { via: "command", actor: userInfo().username, origin: hostname() };
}

export function trailOf(store: Pick<Store, "audit">): AuditTrail {
  return auditTrail(store.audit, systemClock);
}

export function operatorAccountsOf(store: Store): OperatorAccounts {
  return operatorAccounts(store, trailOf(store), systemClock);
}

export async function operatorCargosOf(store: Store, config: CoordinatorConfig): Promise<OperatorCargos> {
  const shipped = await readShippedCargos(config.catalogDirectory, defaultSlugsOf(config));
  return operatorCargos(store.catalog, shipped, trailOf(store), systemClock);
}

/** Calls `use` with the operations on Cargos, for the data that the options name. */
export function withCargos(
  options: DataOptions,
  use: (cargos: OperatorCargos, store: Store, config: CoordinatorConfig) => Promise<void>,
): Promise<void> {
  return withStore(options, async (store, config) => use(await operatorCargosOf(store, config), store, config));
}

interface CommandOperators {
  readonly store: Store;
  readonly config: CoordinatorConfig;
  readonly accounts: OperatorAccounts;
  readonly islands: OperatorIslands;
  readonly announcements: Announcements;
}

/**
 * Calls `use` with the operations of operators, for the data that the options name. Running coordinators apply changes
 * within a second.
 */
export function withOperators(
  options: DataOptions,
  use: (operators: CommandOperators) => Promise<void>,
): Promise<void> {
  return withStore(options, async (store, config) => {
    const trail = trailOf(store);
    await use({
      store,
      config,
      accounts: operatorAccountsOf(store),
      islands: operatorIslands(store, trail, systemClock),
      announcements: openAnnouncements(store, trail, systemClock),
    });
  });
}

export interface PageOptions extends DataOptions {
  readonly limit: string;
  readonly offset: string;
}

/** Adds the options of {@link PageOptions}. */
export function addPageOptions(command: Command): Command {
  return addDataOptions(command)
    .option("--limit <n>", "number of lines, 1 to 100", "20")
    .option("--offset <n>", "number of lines to skip", "0");
}

/** @throws {UsageError} */
export function readPage({ limit, offset }: PageOptions): Page {
  return { limit: readCount("--limit", limit, 1, 100), offset: readCount("--offset", offset, 0, 1_000_000_000) };
}

function readCount(flag: string, text: string, min: number, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${flag}: must be an integer from ${min} to ${max}, got ${JSON.stringify(text)}`);
}

/** Reads a flag that takes one line of text. */
export function readLine(maxLength: number): (text: string) => string {
  return (text) => {
    const trimmed = text.trim();
    if (trimmed !== "" && trimmed.length <= maxLength && !/\p{Cc}/u.test(trimmed)) return trimmed;
    throw new InvalidArgumentError(`It must be one line of 1 to ${maxLength} characters.`);
  };
}

/** Returns a table that fits the terminal. @param none the text that is shown for an empty list. */
export function listOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { none, total }: { readonly none: string; readonly total?: number },
): string {
  if (rows.length === 0) return (total ?? 0) > 0 ? `No lines at this offset; there are ${total} in total` : none;
  return tableOf(columns, rows, { width: outputWidth(), ...(total === undefined ? {} : { total }) });
}

/** Formats a stored time as ISO 8601. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

/** Formats the time since `ms`. */
export const age = (ms: number): string => formatAge(systemClock.now() - ms);
