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
  { onDataDirectory, print, withStore, accountIdOf }: LedgerTools,
): void {
  onDataDirectory(account.command("limits"))
    .description("Show the limits of an account, or change them; each value is a number or `default`")
    .requiredOption("--email <address>", "e-mail address of the account")
    .option("--requests-per-minute <n>", "requests per minute of each API key and each session")
    .option("--jobs <n>", "maximum number of unfinished jobs")
    .option("--streams <n>", "maximum number of open streams")
    .option("--share <n>", "weight in the fair share of slot time, 1 to 1000; twice the weight gets twice the time")
    .action(async (options: LimitOptions) => {
      await withStore(options, async (store) => {
        const accountId = await accountIdOf(store, options.email);
        const params = {
          ...readLimit("requestsPerMinute", options.requestsPerMinute),
          ...readLimit("concurrentJobs", options.jobs),
          ...readLimit("concurrentStreams", options.streams),
          ...readLimit("share", options.share),
        };
        const accounts = operatorAccountsOf(store);
        const limits =
          Object.keys(params).length === 0
            ? (await accounts.get(accountId)).limits
            : await accounts.setLimits(commandActor(), accountId, params).catch(nameFlags);
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

/** Adds `credits grant` and `ledger verify`, which also work while a coordinator runs. */
export function addLedgerCommands(program: Command, tools: LedgerTools): void {
  const { onDataDirectory, print, withStore, accountIdOf, fail } = tools;
  const credits = program.command("credits").description("Manage the credits of accounts");
  onDataDirectory(credits.command("grant"))
    .description("Grant credits to an account, or take credits back with a negative number")
    .requiredOption("--email <address>", "e-mail address of the account")
    .requiredOption("--credits <credits>", "number from -4000000000 to 4000000000, not 0, with at most 6 decimals")
    .option("--note <text>", "note for the account's ledger; required to take credits back", readLine(MAX_GRANT_NOTE))
    .action(async (options: DataOptions & { email: string; credits: string; note?: string }) => {
      await withStore(options, async (store) => {
        const accountId = await accountIdOf(store, options.email);
        const grant = { credits: readCredits(options.credits), note: options.note ?? null };
        const balanceMicro = await operatorAccountsOf(store).grant(commandActor(), accountId, grant).catch(nameFlags);
        const balance = creditsFromMicro(balanceMicro);
        print(options, { id: accountId, credits: balance }, `${options.email} has ${balance} credits`);
      });
    });

  const ledger = program.command("ledger").description("Check the ledger of all credits");
  onDataDirectory(ledger.command("verify"))
    .description("Compare all balances with the ledger's entries; the exit code is 1 if one is wrong")
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

/** Names the flags of invalid limits and grants. @throws {unknown} */
function nameFlags(error: unknown): never {
  if (!(error instanceof ValidationError)) throw error;
  const lines = error.details.map(
    ({ path, message }) => `${FLAGS[path] ?? `--${path}`}: ${message}${path in FLAGS ? ", or default" : ""}`,
  );
  throw new UsageError(lines.join("\n"), { cause: error });
}

/** Number() reads an empty text as 0. NaN is rejected later, with the allowed range. */
const readCredits = (text: string): number => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN);

/** Lists the faults of the ledger, one per line. */
export function ledgerFaultsOf(report: LedgerReport): string[] {
  const { sumMicro, unbalancedTransactions, wrongBalances, wrongHolds } = report;
  return [
    ...(sumMicro === 0 ? [] : [`The sum of all entries must be 0, got ${sumMicro} micro-credits`]),
    ...(unbalancedTransactions === 0 ? [] : [`${unbalancedTransactions} transactions have a sum other than 0`]),
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
