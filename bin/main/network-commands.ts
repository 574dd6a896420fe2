import { InvalidArgumentError, type Command } from "commander";
import { creditsFromMicro } from "../../coordinator/credits/micro-credits.ts";
import { nameOf } from "../../coordinator/islands/island-service.ts";
import type { ListedIsland } from "../../coordinator/operators/operator-islands.ts";
import { MAX_BECAUSE } from "../../coordinator/operators/operator-accounts.ts";
import { MAX_ANNOUNCEMENT_CHARS } from "../../coordinator/operators/announcements.ts";
import type { KnownAccount } from "../../coordinator/store/operator-store.ts";
import { ConfigError } from "../../shared/settings.ts";
import { accountIdOf, onDataDirectory, print, type DataOptions } from "./data-commands.ts";
import {
  commandActor,
  isoTime,
  isoTimeOrNull,
  onPage,
  plain,
  readPage,
  tableOf,
  withOperators,
  type PageOptions,
} from "./operator-tools.ts";

interface OwnerOptions extends DataOptions {
  readonly email: string;
}

/**
 * `coordinator account list|show|role|suspend|reinstate`, `island list|suspend|reinstate` and `announcement list|add|remove`. Running
 * coordinators apply a change within a second.
 */
export function addNetworkCommands(program: Command, account: Command): void {
  addAccountLists(account);
  addStanding(account);
  addIslandCommands(program.command("island").description("Islands of all accounts."));
  addAnnouncementCommands(program.command("announcement").description("What everybody is told."));
}

function addAccountLists(account: Command): void {
  onPage(account.command("list"))
    .description("List accounts, newest first.")
    .option("--search <text>", "part of the e-mail address, or the whole id")
    .option("--operators", "only operators")
    .option("--suspended", "only suspended ones")
    .action((options: PageOptions & { search?: string; operators?: true; suspended?: true }) =>
      withOperators(options, async ({ accounts }) => {
        const { search, operators, suspended: isSuspended } = options;
        const role = operators === true ? "operator" : undefined;
        const { accounts: listed, total } = await accounts.list({ search, role, isSuspended }, readPage(options));
        const rows = listed.map((each) => [each.id, each.email, ...standingOf(each)]);
        print(options, { accounts: listed.map(presentAccount), total }, tableOf(rows, total));
      }),
    );
  ownerCommand(account, "show", "Show an account: balance, limits, Islands, latest jobs.").action(
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
          ["account", `${detail.id}, made ${isoTime(detail.createdAtMs)}`],
          ["standing", standingOf(detail).filter(Boolean).join(", ")],
          [
            "limits",
            `${limits.requestsPerMinute} requests a minute, ${limits.concurrentJobs} unfinished jobs, ${limits.concurrentStreams} open streams, share ${limits.share}`,
          ],
          ...owned.islands.map((each) => ["Island", rowOf(each).join("  ")]),
          ...value.latest_jobs.map((job) => ["job", Object.values(job).join("  ")]),
        ];
        print(options, value, tableOf(rows));
      }),
  );
}

function addStanding(account: Command): void {
  ownerCommand(account, "role", "Make an account an operator's, or a user's again; shows it without a flag.")
    .option("--operator", "may see and change what belongs to the whole network")
    .option("--user", "may not")
    .action((options: OwnerOptions & { operator?: true; user?: true }) =>
      withOperators(options, async ({ accounts, store }) => {
        const { operator, user, email } = options;
        if (operator === true && user === true) throw new ConfigError(["--operator and --user exclude each other"]);
        const id = await accountIdOf(store, email);
        const wish = operator === true ? "operator" : user === true ? "user" : null;
        if (wish !== null) await accounts.setRole(commandActor(), id, wish);
        const { role } = await accounts.get(id);
        print(options, { id, role }, `${email} is ${role === "operator" ? "an operator" : "a user"}`);
      }),
    );
  ownerCommand(account, "suspend", "Refuse an account, and end its streams, jobs and Islands' sessions.")
    .requiredOption("--reason <text>", "told to its owner", readLine(MAX_BECAUSE))
    .action((options: OwnerOptions & { reason: string }) =>
      withOperators(options, async ({ accounts, store }) => {
        const id = await accountIdOf(store, options.email);
        await accounts.suspend(commandActor(), id, options.reason);
        print(options, { id, suspended: true }, `${options.email} is suspended`);
      }),
    );
  ownerCommand(account, "reinstate", "End the suspension of an account.").action((options: OwnerOptions) =>
    withOperators(options, async ({ accounts, store }) => {
      const id = await accountIdOf(store, options.email);
      await accounts.reinstate(commandActor(), id);
      print(options, { id, suspended: false }, `${options.email} is not suspended`);
    }),
  );
}

function addIslandCommands(island: Command): void {
  onPage(island.command("list"))
    .description("List Islands, last seen first. Online: seen in the last two and a half minutes.")
    .option("--search <text>", "beginning of the id, or part of a name")
    .option("--email <address>", "only of this account")
    .option("--status <status>", "online, offline or suspended")
    .action((options: PageOptions & { search?: string; email?: string; status?: string }) =>
      withOperators(options, async ({ islands, store }) => {
        const { search, email } = options;
        const accountId = email === undefined ? undefined : await accountIdOf(store, email);
        const filter = { search, accountId, status: readStatus(options.status) };
        const { islands: listed, total } = await islands.list(filter, readPage(options));
        print(options, { islands: listed.map(presentIsland), total }, tableOf(listed.map(rowOf), total));
      }),
    );
  onDataDirectory(island.command("suspend <id>"))
    .description("Send an Island away; it gets no jobs until it is reinstated.")
    .requiredOption("--reason <text>", "told to its owner", readLine(MAX_BECAUSE))
    .action((id: string, options: DataOptions & { reason: string }) =>
      withOperators(options, async ({ islands }) => {
        await islands.suspend(commandActor(), id, options.reason);
        print(options, { id, suspended: true }, `${id} is suspended`);
      }),
    );
  onDataDirectory(island.command("reinstate <id>"))
    .description("End the suspension of an Island; it comes back within a minute.")
    .action((id: string, options: DataOptions) =>
      withOperators(options, async ({ islands }) => {
        await islands.reinstate(commandActor(), id);
        print(options, { id, suspended: false }, `${id} is not suspended`);
      }),
    );
}

function addAnnouncementCommands(announcement: Command): void {
  onDataDirectory(announcement.command("list"))
    .description("List what everybody is told, newest first.")
    .action((options: DataOptions) =>
      withOperators(options, async ({ announcements }) => {
        const shown = (await announcements.list()).map(({ id, level, text, createdAtMs, untilMs }) => {
          return { id, level, text, created_at: isoTime(createdAtMs), until: isoTimeOrNull(untilMs) };
        });
        const rows = shown.map(({ id, level, text, until }) => [id, level, until ?? "", plain(text)]);
        print(options, shown, tableOf(rows));
      }),
    );
  onDataDirectory(announcement.command("add"))
    .description("Tell everybody something.")
    .requiredOption("--text <text>", "plain text", readLine(MAX_ANNOUNCEMENT_CHARS))
    .option("--warning", "more than information")
    .option("--until <time>", "ISO 8601; else until it is removed", readTime)
    .action((options: DataOptions & { text: string; warning?: true; until?: number }) =>
      withOperators(options, async ({ announcements }) => {
        const { text, warning, until: untilMs = null } = options;
        const level = warning === true ? "warning" : "info";
        const { id } = await announcements.add(commandActor(), { level, text, untilMs });
        print(options, { id, level, text, until: isoTimeOrNull(untilMs) }, id);
      }),
    );
  onDataDirectory(announcement.command("remove <id>"))
    .description("Remove an announcement.")
    .action((id: string, options: DataOptions) =>
      withOperators(options, async ({ announcements }) => {
        await announcements.remove(commandActor(), id);
        print(options, { id, removed: true }, `Removed ${id}`);
      }),
    );
}

function ownerCommand(parent: Command, name: string, description: string): Command {
  return onDataDirectory(parent.command(name).description(description)).requiredOption(
    "--email <address>",
    "the account's e-mail address",
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
    suspended: suspension === null ? null : { reason: suspension.because, since: isoTime(suspension.atMs) },
    created_at: isoTime(createdAtMs),
  };
}

function standingOf({ role, balanceMicro, unfinishedJobs, islands, suspension }: KnownAccount): string[] {
  return [
    `${creditsFromMicro(balanceMicro)} credits`,
    `${unfinishedJobs} unfinished jobs`,
    `${islands} Islands`,
    role === "operator" ? "operator" : "",
    suspension === null ? "" : `suspended: ${plain(suspension.because)}`,
  ];
}

function presentIsland({ record, status, suspendedBecause }: ListedIsland) {
  return {
    id: record.hostId,
    name: nameOf(record),
    status,
    suspended_because: suspendedBecause,
    account_id: record.accountId,
    account_email: record.email,
    agent_version: record.agentVersion,
    runtimes: record.runtimes.map(({ type }) => type),
    last_seen_at: isoTime(record.lastSeenAtMs),
  };
}

function rowOf({ record, status, suspendedBecause }: ListedIsland): string[] {
  const { hostId, email, runtimes, lastSeenAtMs } = record;
  const why = suspendedBecause === null ? "" : plain(suspendedBecause);
  const offers = runtimes.map(({ type }) => type).join(",");
  return [hostId, status, plain(nameOf(record)), email, offers, `seen ${isoTime(lastSeenAtMs)}`, why];
}

/** @throws {ConfigError} */
function readStatus(text: string | undefined): "online" | "offline" | "suspended" | undefined {
  if (text === undefined || text === "online" || text === "offline" || text === "suspended") return text;
  throw new ConfigError([`--status: ${JSON.stringify(text)} is none of online, offline, suspended`]);
}

function readLine(maxLength: number): (text: string) => string {
  return (text) => {
    const trimmed = text.trim();
    if (trimmed !== "" && trimmed.length <= maxLength && !/\p{Cc}/u.test(trimmed)) return trimmed;
    throw new InvalidArgumentError(`It needs one line of 1 to ${maxLength} characters.`);
  };
}

function readTime(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError("It needs a time like 2026-12-31T22:00:00Z.");
  return ms;
}
