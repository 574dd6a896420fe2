import type { Command } from "commander";
import type { CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import { creditsFromMicro } from "../../../coordinator/credits/micro-credits.ts";
import { SEEN_LATELY_MS } from "../../../coordinator/islands/island-service.ts";
import type { KnownIsland, KnownJob } from "../../../coordinator/store/accounts/operators.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { JOB_STATES, type JobState } from "../../../shared/job-state.ts";
import { alignRows, fixed, flexible } from "../../../shared/cli/text-table.ts";
import { accountIdOf, addDataOptions, type DataOptions } from "./data-commands.ts";
import {
  age,
  isoTime,
  isoTimeOrNull,
  listOf,
  addPageOptions,
  operatorCargosOf,
  readPage,
  withOperators,
  type PageOptions,
} from "./operator-tools.ts";
import { storedQueue, type QueuedCargo, type StoredQueueLine } from "./stored-queue.ts";
import { print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";

/** Maximum number of pages of Islands that are read to find out why jobs wait. */
const MAX_ISLAND_PAGES = 100;
const PAGE = 100;

/** Adds `status`, `queue`, `job list` and `audit`. They show stored state. Coordinators may be running. */
export function addOperatorCommands(program: Command): void {
  addDataOptions(program.command("status"))
    .description("Show the coordinators, Islands, accounts and jobs of the network")
    .action((options: DataOptions) => withOperators(options, ({ store, config }) => status(options, store, config)));
  addDataOptions(program.command("queue"))
    .description(
      "Show unfinished jobs by Cargo and why they wait, as recorded in the database; GET /operator/queue also asks the running coordinators",
    )
    .action((options: DataOptions) =>
      withOperators(options, async ({ store, config }) => {
        const lines = await readQueue(store, config);
        const shown = lines.map((line) => ({
          workload_slug: line.slug,
          waiting: line.waiting,
          running: line.running,
          waiting_since: isoTimeOrNull(line.oldestAtMs),
          reason: line.reason,
        }));
        const columns = [flexible("CARGO"), fixed("WAITING"), fixed("RUNNING"), fixed("OLDEST"), flexible("REASON")];
        const rows = lines.map(({ slug, waiting, running, oldestAtMs, reason }) => [
          slug,
          `${waiting}`,
          `${running}`,
          oldestAtMs === null ? "" : age(oldestAtMs),
          reason ?? "",
        ]);
        print(options, shown, listOf(columns, rows, { none: "No unfinished jobs" }));
      }),
    );
  addJobCommand(program);
  addAuditCommand(program);
}

async function status(options: DataOptions, store: Store, config: CoordinatorConfig): Promise<void> {
  const since = systemClock.now() - SEEN_LATELY_MS;
  const first = { limit: 1, offset: 0 };
  const [islands, accounts, suspended, unfinished, peers, suspensions] = await Promise.all([
    store.operators.countIslands(since),
    store.operators.accounts({}, first),
    store.operators.accounts({ isSuspended: true }, first),
    store.operators.unfinishedJobs(),
    store.cluster.isShared ? store.cluster.peers() : null,
    store.operators.suspensions(),
  ]);
  const count = (isOf: (state: JobState) => boolean): number =>
    unfinished.reduce((sum, { state, jobs }) => sum + (isOf(state) ? jobs : 0), 0);
  const value = {
    coordinators: peers?.map(({ id, address, version }) => ({ id, address, version })) ?? null,
    islands: { online: islands.seen, known: islands.known, suspended: suspensions.islands.size },
    accounts: { known: accounts.total, suspended: suspended.total },
    jobs: { running: count((state) => state !== "pending"), waiting: count((state) => state === "pending") },
    waiting: (await readQueue(store, config))
      .filter(({ waiting }) => waiting > 0)
      .map(({ slug, waiting, reason }) => ({ workload_slug: slug, jobs: waiting, reason })),
  };
  const rows = [
    ...(value.coordinators ?? []).map(({ id, address, version }) => ["coordinator", `${id} at ${address}, ${version}`]),
    [
      "Islands",
      `${islands.seen} seen in the last few minutes, ${islands.known} known, ${suspensions.islands.size} suspended`,
    ],
    ["accounts", `${accounts.total} known, ${suspended.total} suspended`],
    ["jobs", `${value.jobs.running} running, ${value.jobs.waiting} waiting`],
    ...value.waiting.map(({ workload_slug: slug, jobs, reason }) => ["waiting", `${jobs} of ${slug}: ${reason}`]),
  ];
  print(options, value, alignRows(rows));
}

async function readQueue(store: Store, config: CoordinatorConfig): Promise<StoredQueueLine[]> {
  const unfinished = await store.operators.unfinishedJobs();
  if (unfinished.length === 0) return [];
  const islands: KnownIsland[] = [];
  for (let pages = 0; pages < MAX_ISLAND_PAGES; pages += 1) {
    const filter = { seenSinceMs: systemClock.now() - SEEN_LATELY_MS, isSuspended: false };
    const page = await store.operators.islands(filter, { limit: PAGE, offset: pages * PAGE });
    islands.push(...page.islands);
    if (page.islands.length < PAGE) break;
  }
  const cargos = await operatorCargosOf(store, config);
  const queued = new Map<string, QueuedCargo>();
  for (const slug of new Set(unfinished.map((each) => each.slug))) {
    const review = await cargos.review(slug).catch(ignoreRefusal);
    if (review === null || review.status === "disabled" || review.status === "off") continue;
    const { file, status: approval, ownerId } = review;
    queued.set(slug, { file, onlyIslandsOf: approval === "waiting" ? ownerId : null });
  }
  return storedQueue(unfinished, islands, (slug) => queued.get(slug) ?? null);
}

/** Leaves out a Cargo that no longer exists or that violates a rule of this version. */
function ignoreRefusal(error: unknown): null {
  if (error instanceof ServiceError) return null;
  throw error;
}

interface JobOptions extends PageOptions {
  readonly status?: string;
  readonly email?: string;
  readonly workload?: string;
  readonly island?: string;
}

const JOB_COLUMNS = [
  fixed("JOB"),
  fixed("STATUS"),
  flexible("CARGO"),
  flexible("ACCOUNT"),
  fixed("AGE"),
  flexible("ERROR"),
];

function addJobCommand(program: Command): void {
  const job = program.command("job").description("List the jobs of all accounts");
  addPageOptions(job.command("list"))
    .description(
      "List jobs, newest first. Searches the latest 100,000 jobs; with --email as the only filter, all jobs of that account",
    )
    .option("--status <list>", `list only jobs in these states, separated by commas: ${JOB_STATES.join(", ")}`)
    .option("--email <address>", "list only jobs of this account")
    .option("--workload <slug>", "list only jobs of this Cargo")
    .option("--island <id>", "list only jobs of this Island")
    .action((options: JobOptions) =>
      withOperators(options, async ({ store }) => {
        const { workload: slug, island: islandId, email } = options;
        const accountId = email === undefined ? undefined : await accountIdOf(store, email);
        const filter = { states: readStates(options.status), accountId, slug, islandId };
        const { jobs, total } = await store.operators.jobs(filter, readPage(options));
        const rows = jobs.map((each) => [
          each.id,
          each.state,
          each.slug,
          each.email,
          age(each.createdAtMs),
          each.errorCode ?? "",
        ]);
        print(options, { jobs: jobs.map(presentJob), total }, listOf(JOB_COLUMNS, rows, { total, none: "No jobs" }));
      }),
    );
}

function presentJob(job: KnownJob) {
  return {
    id: job.id,
    status: job.state,
    workload_slug: job.slug,
    account_id: job.accountId,
    account_email: job.email,
    island_id: job.islandId,
    attempts: job.attempt,
    error_code: job.errorCode,
    credits_used: creditsFromMicro(job.creditsUsedMicro),
    created_at: isoTime(job.createdAtMs),
    completed_at: isoTimeOrNull(job.completedAtMs),
  };
}

/** @throws {UsageError} */
function readStates(list: string | undefined): JobState[] | undefined {
  return list?.split(",").map((text) => {
    const found = JOB_STATES.find((state) => state === text.trim());
    if (found === undefined)
      throw new UsageError(`--status: must be one or more of ${JOB_STATES.join(", ")}, got ${JSON.stringify(text)}`);
    return found;
  });
}

function addAuditCommand(program: Command): void {
  addPageOptions(program.command("audit"))
    .description("List the actions of operators, newest first")
    .option("--action <name>", "list only this action, for example account.suspend")
    .option("--target <id>", "list only actions on this account, Island, Cargo, …")
    .option("--actor <id>", "list only actions by this account or user of the operating system")
    .action((options: PageOptions & { action?: string; target?: string; actor?: string }) =>
      withOperators(options, async ({ store }) => {
        const { action, actor, target: targetId } = options;
        const { lines, total } = await store.audit.list({ action, actor, targetId }, readPage(options));
        const shown = lines.map(
          ({ id, atMs, via, actor: who, email, origin, action: what, targetKind, targetId: on, before, after }) => {
            const target = { kind: targetKind, id: on };
            return {
              id,
              at: isoTime(atMs),
              via,
              actor: who,
              actor_email: email,
              origin,
              action: what,
              target,
              before,
              after,
            };
          },
        );
        const columns = [fixed("TIME (UTC)"), flexible("BY"), fixed("ACTION"), flexible("TARGET"), flexible("CHANGE")];
        const rows = shown.map(
          ({ at, actor: who, actor_email: email, origin, action: what, target, before, after }) => [
            at.slice(0, 19).replace("T", " "),
            `${email ?? who}@${origin}`,
            what,
            target.id,
            [before, after].flatMap((value) => (value === null ? [] : [JSON.stringify(value)])).join(" → "),
          ],
        );
        print(options, { lines: shown, total }, listOf(columns, rows, { total, none: "No actions" }));
      }),
    );
}
