import type { Command } from "commander";
import { creditsFromMicro } from "../../../coordinator/credits/micro-credits.ts";
import { nameOf, type ListedIsland } from "../../../coordinator/islands/island-service.ts";
import { MAX_REASON_CHARS } from "../../../coordinator/operators/operator-accounts.ts";
import type { KnownAccount, KnownIsland } from "../../../coordinator/store/accounts/operators.ts";
import { alignRows, fixed, flexible } from "../../../shared/cli/text-table.ts";
import { addAnnouncementCommands } from "./announcement-commands.ts";
import { accountIdOf, addDataOptions, type DataOptions } from "./data-commands.ts";
import {
  age,
  commandActor,
  isoTime,
  listOf,
  addPageOptions,
  readLine,
  readPage,
  withOperators,
  type PageOptions,
} from "./operator-tools.ts";
import { addStandingCommands } from "./standing-commands.ts";
import { print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";

interface OwnerOptions extends DataOptions {
  readonly email: string;
}

/**
 * Adds `coordinator account list|show|role|suspend|reinstate`, `island list|suspend|reinstate`, `standing
 * list|set` and `announcement list|add|remove`. Running coordinators apply a change within a second.
 */
export function addNetworkCommands(program: Command, account: Command): void {
  addAccountLists(account);
  addAccountStatus(account);
  addIslandCommands(program.command("island").description("Manage the Islands of all accounts"));
  addStandingCommands(
    program.command("standing").description("Manage the standings that audits give to owners of Islands"),
  );
  addAnnouncementCommands(program.command("announcement").description("Manage announcements to all users"));
}

function addAccountLists(account: Command): void {
  addPageOptions(account.command("list"))
    .description("List accounts, newest first")
    .option("--search <text>", "part of an account's e-mail address, or an account's complete id")
    .option("--operators", "list only operators")
    .option("--suspended", "list only suspended accounts")
    .action((options: PageOptions & { search?: string; operators?: true; suspended?: true }) =>
      withOperators(options, async ({ accounts }) => {
        const { search, operators, suspended: isSuspended } = options;
        const role = operators === true ? "operator" : undefined;
        const { accounts: listed, total } = await accounts.list({ search, role, isSuspended }, readPage(options));
        const columns = ["ACCOUNT", "E-MAIL", "CREDITS", "JOBS", "ISLANDS", "NOTE"].map((name) =>
          ["E-MAIL", "NOTE"].includes(name) ? flexible(name) : fixed(name),
        );
        const rows = listed.map((each) => [
          each.id,
          each.email,
          `${creditsFromMicro(each.balanceMicro)}`,
          `${each.unfinishedJobs}`,
          `${each.islands}`,
          notesOf(each).join(", "),
        ]);
        const text = listOf(columns, rows, { total, none: "No accounts" });
        print(options, { accounts: listed.map(presentAccount), total }, text);
      }),
    );
  ownerCommand(account, "show", "Show the balance, limits, Islands and latest jobs of an account").action(
    (options: OwnerOptions) =>
      withOperators(options, async ({ accounts, islands, store }) => {
        const detail = await accounts.get(await accountIdOf(store, options.email));
        const { limits } = detail;
        const page = { limit: 10, offset: 0 };
        const [owned, latest] = await Promise.all([
          islands.list({ accountId: detail.id }, page),
          store.operators.jobs({ accountId: detail.id }, page),
        ]);
        const value = {
          ...presentAccount(detail),
          limits: {
            requests_per_minute: limits.requestsPerMinute,
            concurrent_jobs: limits.concurrentJobs,
            concurrent_streams: limits.concurrentStreams,
            share: limits.share,
          },
          latest_islands: owned.islands.map(presentIsland),
          latest_jobs: latest.jobs.map(({ id, slug, state, createdAtMs }) => ({
            id,
            workload_slug: slug,
            status: state,
            created_at: isoTime(createdAtMs),
          })),
        };
        const rows = [
          ["account", `${detail.id}, created ${isoTime(detail.createdAtMs)}`],
          ["status", statusOf(detail).join(", ")],
          [
            "limits",
            `${limits.requestsPerMinute} requests per minute, ${limits.concurrentJobs} unfinished jobs, ${limits.concurrentStreams} open streams, share ${limits.share}`,
          ],
        ];
        const tables = [
          listOf(ISLAND_COLUMNS, owned.islands.map(withoutAccount), { total: owned.total, none: "No Islands" }),
          listOf(
            [fixed("LATEST JOBS"), fixed("STATUS"), flexible("CARGO"), fixed("AGE")],
            latest.jobs.map(({ id, slug, state, createdAtMs }) => [id, state, slug, age(createdAtMs)]),
            { none: "No jobs" },
          ),
        ];
        print(options, value, [alignRows(rows), ...tables].join("\n\n"));
      }),
  );
}

function addAccountStatus(account: Command): void {
  ownerCommand(account, "role", "Show or change the role of an account")
    .option("--operator", "make the account an operator of the network")
    .option("--user", "make the account an ordinary user")
    .action((options: OwnerOptions & { operator?: true; user?: true }) =>
      withOperators(options, async ({ accounts, store }) => {
        const { operator, user, email } = options;
        if (operator === true && user === true)
          throw new UsageError("--operator and --user cannot be combined. Give one of them");
        const id = await accountIdOf(store, email);
        const wanted = operator === true ? "operator" : user === true ? "user" : null;
        if (wanted !== null) await accounts.setRole(commandActor(), id, wanted);
        const { role } = await accounts.get(id);
        print(options, { id, role }, `${email} is ${role === "operator" ? "an operator" : "a user"}`);
      }),
    );
  ownerCommand(
    account,
    "suspend",
    "Suspend an account: end its streams, jobs and Island sessions, and reject its requests",
  )
    .requiredOption("--reason <text>", "reason that is shown to the owner", readLine(MAX_REASON_CHARS))
    .action((options: OwnerOptions & { reason: string }) =>
      withOperators(options, async ({ accounts, store }) => {
        const id = await accountIdOf(store, options.email);
        await accounts.suspend(commandActor(), id, options.reason);
        print(options, { id, suspended: true }, `${options.email} is suspended`);
      }),
    );
  ownerCommand(account, "reinstate", "End the suspension of an account").action((options: OwnerOptions) =>
    withOperators(options, async ({ accounts, store }) => {
      const id = await accountIdOf(store, options.email);
      await accounts.reinstate(commandActor(), id);
      print(options, { id, suspended: false }, `${options.email} is no longer suspended`);
    }),
  );
}

function addIslandCommands(island: Command): void {
  addPageOptions(island.command("list"))
    .description(
      "List Islands, the most recently seen first; an Island is online if it was seen in the last two and a half minutes",
    )
    .option("--search <text>", "beginning of an Island's id, or part of its name")
    .option("--email <address>", "list only Islands of this account")
    .option("--status <status>", "list only Islands with this status: online, offline or suspended")
    .action((options: PageOptions & { search?: string; email?: string; status?: string }) =>
      withOperators(options, async ({ islands, store }) => {
        const { search, email } = options;
        const accountId = email === undefined ? undefined : await accountIdOf(store, email);
        const filter = { search, accountId, status: readStatus(options.status) };
        const { islands: listed, total } = await islands.list(filter, readPage(options));
        print(
          options,
          { islands: listed.map(presentIsland), total },
          listOf(ISLAND_COLUMNS, listed.map(rowOf), { total, none: "No Islands" }),
        );
      }),
    );
  addDataOptions(island.command("suspend <id>"))
    .description("Suspend an Island: disconnect it and reject its connections")
    .requiredOption("--reason <text>", "reason that is shown to the owner", readLine(MAX_REASON_CHARS))
    .action((id: string, options: DataOptions & { reason: string }) =>
      withOperators(options, async ({ islands }) => {
        await islands.suspend(commandActor(), id, options.reason);
        print(options, { id, suspended: true }, `${id} is suspended`);
      }),
    );
  addDataOptions(island.command("reinstate <id>"))
    .description("End the suspension of an Island, which reconnects within a minute")
    .action((id: string, options: DataOptions) =>
      withOperators(options, async ({ islands }) => {
        await islands.reinstate(commandActor(), id);
        print(options, { id, suspended: false }, `${id} is no longer suspended`);
      }),
    );
}

function ownerCommand(parent: Command, name: string, description: string): Command {
  return addDataOptions(parent.command(name).description(description)).requiredOption(
    "--email <address>",
    "e-mail address of the account",
  );
}

function presentAccount(account: KnownAccount) {
  const { id, email, role, suspension, createdAtMs, unfinishedJobs, islands } = account;
  return {
    id,
    email,
    role,
    credits: creditsFromMicro(account.balanceMicro),
    held: creditsFromMicro(account.heldMicro),
    unfinished_jobs: unfinishedJobs,
    islands,
    suspended: suspension === null ? null : { reason: suspension.reason, since: isoTime(suspension.atMs) },
    created_at: isoTime(createdAtMs),
  };
}

function statusOf(account: KnownAccount): string[] {
  return [
    `${creditsFromMicro(account.balanceMicro)} credits`,
    `${account.unfinishedJobs} unfinished jobs`,
    `${account.islands} Islands`,
    ...notesOf(account),
  ];
}

function notesOf({ role, suspension }: KnownAccount): string[] {
  return [
    ...(role === "operator" ? ["operator"] : []),
    ...(suspension === null ? [] : [`suspended: ${suspension.reason}`]),
  ];
}

function presentIsland({ record, status, suspensionReason }: ListedIsland<KnownIsland>) {
  return {
    id: record.hostId,
    name: nameOf(record),
    status,
    suspended_because: suspensionReason,
    account_id: record.accountId,
    account_email: record.email,
    agent_version: record.agentVersion,
    runtimes: record.runtimes.map(({ type }) => type),
    last_seen_at: isoTime(record.lastSeenAtMs),
  };
}

const ISLAND_COLUMNS = [
  fixed("ISLAND"),
  fixed("STATUS"),
  flexible("NAME"),
  flexible("ACCOUNT"),
  flexible("RUNTIMES"),
  fixed("SEEN"),
  flexible("NOTE"),
];

function rowOf({ record, status, suspensionReason }: ListedIsland<KnownIsland>): string[] {
  const { hostId, email, runtimes, lastSeenAtMs } = record;
  const offers = runtimes.map(({ type }) => type).join(",");
  return [hostId, status, nameOf(record), email, offers, age(lastSeenAtMs), suspensionReason ?? ""];
}

/** Leaves the account column empty in a list of the Islands of one account. */
function withoutAccount(listed: ListedIsland<KnownIsland>): string[] {
  return rowOf(listed).map((cell, column) => (ISLAND_COLUMNS[column]?.name === "ACCOUNT" ? "" : cell));
}

/** @throws {UsageError} */
function readStatus(text: string | undefined): "online" | "offline" | "suspended" | undefined {
  if (text === undefined || text === "online" || text === "offline" || text === "suspended") return text;
  throw new UsageError(`--status: must be online, offline or suspended, got ${JSON.stringify(text)}`);
}
