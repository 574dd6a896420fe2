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

/** `coordinator account limits`. It works beside a running coordinator, which applies a change from the next request. */
export function addLimitsCommand(
  account: Command,
  { onDataDirectory, print, withStore, accountIdOf }: LedgerTools,
): void {
  onDataDirectory(account.command("limits"))
    .description("Show an account's limits, and change those that are given. A value is a number or `default`.")
    .requiredOption("--email <address>", "the account's e-mail address")
    .option("--requests-per-minute <number>", "requests a minute of each API key and each session")
    .option("--jobs <number>", "unfinished jobs")
    .option("--streams <number>", "open streams")
    .option("--share <number>", "weight in the fair share of slot time, 1 to 1000; twice the share gets twice the time")
    .action(async (options: LimitOptions) => {
      await withStore(options, async (store) => {
        const accountId = await accountIdOf(store, options.email);
        const wish = {
          ...readLimit("requestsPerMinute", options.requestsPerMinute),
          ...readLimit("concurrentJobs", options.jobs),
          ...readLimit("concurrentStreams", options.streams),
          ...readLimit("share", options.share),
        };
        const accounts = operatorAccountsOf(store);
        const limits =
          Object.keys(wish).length === 0
            ? (await accounts.get(accountId)).limits
            : await accounts.setLimits(commandActor(), accountId, wish).catch(nameFlags);
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
          `${requestsPerMinute} requests a minute, ${concurrentJobs} unfinished jobs, ${concurrentStreams} open streams, share ${share}`,
        );
      });
    });
}

/** `coordinator credits grant` and `coordinator ledger verify`. They work beside a running coordinator. */
export function addLedgerCommands(program: Command, tools: LedgerTools): void {
  const { onDataDirectory, print, withStore, accountIdOf, fail } = tools;
  const credits = program.command("credits").description("Credits of accounts.");
  onDataDirectory(credits.command("grant"))
    .description("Give an account credits, or take them back (negative).")
    .requiredOption("--email <address>", "the account's e-mail address")
    .requiredOption("--credits <number>", "not 0, from -4000000000 to 4000000000, with at most 6 decimals")
    .option(
      "--note <text>",
      "shown to the account in its ledger; needed to take credits back",
      readLine(MAX_GRANT_NOTE),
    )
    .action(async (options: DataOptions & { email: string; credits: string; note?: string }) => {
      await withStore(options, async (store) => {
        const accountId = await accountIdOf(store, options.email);
        const grant = { credits: readCredits(options.credits), note: options.note ?? null };
        const balanceMicro = await operatorAccountsOf(store).grant(commandActor(), accountId, grant).catch(nameFlags);
        const balance = creditsFromMicro(balanceMicro);
        print(options, { id: accountId, credits: balance }, `${options.email} has ${balance} credits`);
      });
    });

  const ledger = program.command("ledger").description("The ledger of all credits.");
  onDataDirectory(ledger.command("verify"))
    .description("Recompute all balances from the ledger's entries; exits with 1 if one is wrong.")
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
  // Number() would read an empty text as 0, and other notations. NaN is refused with the range.
  return { [name]: text === "default" ? null : /^\d+$/.test(text) ? Number(text) : Number.NaN };
}

/** Wrong limits and grants by the flags that gave them. @throws {unknown} */
function nameFlags(error: unknown): never {
  if (!(error instanceof ValidationError)) throw error;
  const lines = error.details.map(
    ({ path, message }) => `${FLAGS[path] ?? `--${path}`}: ${message}${path in FLAGS ? ", or default" : ""}`,
  );
  throw new UsageError(lines.join("\n"), { cause: error });
}

/** Number() would read an empty text as 0, and other notations. NaN is refused with the range. */
const readCredits = (text: string): number => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN);

/** What is wrong with the ledger, a line for each fault. */
export function ledgerFaultsOf(report: LedgerReport): string[] {
  const { sumMicro, unbalancedTransactions, wrongBalances, wrongHolds } = report;
  return [
    ...(sumMicro === 0 ? [] : [`All entries sum to ${sumMicro} micro-credits, not to 0`]),
    ...(unbalancedTransactions === 0 ? [] : [`${unbalancedTransactions} transactions do not sum to 0`]),
    ...wrongBalances.map(
      ({ party, balanceMicro, entriesMicro }) =>
        `${party}: the balance is ${balanceMicro} micro-credits, the entries sum to ${entriesMicro}`,
    ),
    ...wrongHolds.map(
      ({ accountId, heldMicro, jobsMicro }) =>
        `${accountId}: ${heldMicro} micro-credits are held, its unfinished jobs cost ${jobsMicro}`,
    ),
  ];
}
