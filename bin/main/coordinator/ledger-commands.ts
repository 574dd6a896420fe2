import type { Command } from "commander";
import { creditsFromMicro } from "../../../coordinator/credits/micro-credits.ts";
import { MAX_GRANT_NOTE } from "../../../coordinator/operators/operator-accounts.ts";
import type { AccountLimits } from "../../../coordinator/store/accounts/accounts.ts";
import type { LedgerReport } from "../../../coordinator/store/ledger/ledger.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { ValidationError } from "../../../shared/errors.ts";
import type { CommandTools } from "./command-tools.ts";
import type { DataOptions } from "./data-commands.ts";
import { commandActor, operatorAccountsOf, readLine } from "./operator-tools.ts";
import { UsageError } from "../terminal/usage-errors.ts";

interface LedgerTools extends CommandTools {
  /** @throws {ServiceError} `not_found` */
  readonly accountIdOf: (store: Store, email: string) => Promise<string>;
  /** Makes the program exit with 1 after the command. */
  readonly fail: () => void;
}

interface LimitOptions extends DataOptions {
  readonly email: string;
  requestsPerMinute?: string;
  jobs?: string;
  streams?: string;
  share?: string;
}

const FLAGS: Readonly<Record<string, string>> = {
  requestsPerMinute: "--requests-per-minute",
  concurrentJobs: "--jobs",
  concurrentStreams: "--streams",
  share: "--share",
};

/** Adds `account limits`. A running coordinator applies a change from the next request. */
export function addLimitsCommand(
  account: Command,
  { addDataOptions, print, withStore, accountIdOf }: LedgerTools,
): void {
  addDataOptions(account.command("limits"))
    .description("Show the limits of an account, or change them; each value is a number or `default`")
    .requiredOption("--email <address>", "e-mail address of the account")
    .option("--requests-per-minute <n>", "requests per minute of each API key and each session")
    .option("--jobs <n>", "maximum number of unfinished jobs")
    .option("--streams <n>", "maximum number of open streams")
    .option("--share <n>", "weight in the fair share of slot time, 1 to 1000; twice the weight gets twice the time")
    .action(async (options: LimitOptions) => {
      await withStore(options, async (store) => {
        const accountId = await accountIdOf(store, options.email);
        const { requestsPerMinute: requests, jobs, streams, share: weight } = options;
        const given = { requestsPerMinute: requests, concurrentJobs: jobs, concurrentStreams: streams, share: weight };
        const params = {
          ...readLimit("requestsPerMinute", requests),
          ...readLimit("concurrentJobs", jobs),
          ...readLimit("concurrentStreams", streams),
          ...readLimit("share", weight),
        };
        const accounts = operatorAccountsOf(store);
        const limits =
          Object.keys(params).length === 0
            ? (await accounts.get(accountId)).limits
            : await accounts
                .setLimits(commandActor(), accountId, params)
                .catch((error: unknown) => throwWithFlags(error, given));
        const { requestsPerMinute, concurrentJobs, concurrentStreams, share } = limits;
        print(
          options,
          {
            id: accountId,
            requests_per_minute: requestsPerMinute,
            concurrent_jobs: concurrentJobs,
            concurrent_streams: concurrentStreams,
            share,
          },
          `${requestsPerMinute} requests per minute, ${concurrentJobs} unfinished jobs, ${concurrentStreams} open streams, share ${share}`,
        );
      });
    });
}

/** Adds `credits grant` and `ledger verify`. A coordinator may be running. */
export function addLedgerCommands(program: Command, tools: LedgerTools): void {
  const { addDataOptions, print, withStore, accountIdOf, fail } = tools;
  const credits = program.command("credits").description("Manage the credits of accounts");
  addDataOptions(credits.command("grant"))
    .description("Grant credits to an account, or take credits back with a negative number")
    .requiredOption("--email <address>", "e-mail address of the account")
    .requiredOption("--credits <credits>", "number from -4000000000 to 4000000000, not 0, with at most 6 decimals")
    .option("--note <text>", "note for the account's ledger; required to take credits back", readLine(MAX_GRANT_NOTE))
    .action(async (options: DataOptions & { email: string; credits: string; note?: string }) => {
      await withStore(options, async (store) => {
        const accountId = await accountIdOf(store, options.email);
        const grant = { credits: readCredits(options.credits), note: options.note ?? null };
        const balanceMicro = await operatorAccountsOf(store)
          .grant(commandActor(), accountId, grant)
          .catch((error: unknown) => throwWithFlags(error, { credits: options.credits }));
        const balance = creditsFromMicro(balanceMicro);
        print(options, { id: accountId, credits: balance }, `${options.email} has ${balance} credits`);
      });
    });

  const ledger = program.command("ledger").description("Check the ledger of all credits");
  addDataOptions(ledger.command("verify"))
    .description("Compare all balances with the ledger's entries; the exit code is 1 if any balance is wrong")
    .action(async (options: DataOptions) => {
      await withStore(options, async (store) => {
        const report = await store.ledger.verify();
        const faults = ledgerFaultsOf(report);
        print(
          options,
          { balanced: faults.length === 0, ...report },
          faults.length === 0 ? `${report.entries} entries: the ledger is balanced` : faults.join("\n"),
        );
        if (faults.length > 0) fail();
      });
    });
}

function readLimit(name: keyof AccountLimits, text: string | undefined): Partial<AccountLimits> {
  if (text === undefined) return {};
  // Number() reads an empty text as 0. NaN is rejected later, with the allowed range.
  return { [name]: text === "default" ? null : /^\d+$/.test(text) ? Number(text) : Number.NaN };
}

/**
 * Throws a validation error again, with the names of the flags instead of the fields, and with the given values.
 * @throws {unknown}
 */
function throwWithFlags(error: unknown, given: Readonly<Record<string, string | undefined>>): never {
  if (!(error instanceof ValidationError)) throw error;
  const lines = error.details.map(({ path, message }) => {
    const value = given[path];
    const got = value === undefined ? "" : `, got ${JSON.stringify(value)}`;
    return `${FLAGS[path] ?? `--${path}`}: ${message}${path in FLAGS ? ", or default" : ""}${got}`;
  });
  throw new UsageError(lines.join("\n"), { cause: error });
}

/** Number() reads an empty text as 0. NaN is rejected later, with the allowed range. */
const readCredits = (text: string): number => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN);

/** Returns one text for each fault in the ledger. */
export function ledgerFaultsOf(report: LedgerReport): string[] {
  const { sumMicro, unbalancedTransactions, wrongBalances, wrongHolds } = report;
  return [
    ...(sumMicro === 0 ? [] : [`The sum of all entries must be 0, got ${sumMicro} micro-credits`]),
    ...(unbalancedTransactions === 0 ? [] : [`${unbalancedTransactions} transactions have entries whose sum is not 0`]),
    ...wrongBalances.map(
      ({ party, balanceMicro, entriesMicro }) =>
        `${party}: the balance is ${balanceMicro} micro-credits, but the sum of its entries is ${entriesMicro}`,
    ),
    ...wrongHolds.map(
      ({ accountId, heldMicro, jobsMicro }) =>
        `${accountId}: the hold is ${heldMicro} micro-credits, but its unfinished jobs cost ${jobsMicro}`,
    ),
  ];
}
