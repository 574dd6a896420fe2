import { isTerminal, JOB_STATES, type JobState } from "../../../shared/job-state.ts";
import type { JobFilter, JobInput, ListedJob } from "./job-store.ts";
import { assertPage, type Page } from "../steps/page.ts";
import { LISTED, sqlListOf, UNLISTED } from "./job-guards.ts";
import type { Dialect, Tx } from "../steps/tx.ts";

/** Maximum size of an input in a list, in bytes of JSON. Longer inputs are omitted. */
export const MAX_LISTED_INPUT_BYTES = 4_096;

const LISTED_COLUMNS = `id, batch_id AS "batchId", slug, state, created_at_ms AS "createdAtMs", completed_at_ms AS "completedAtMs",
  workload_id AS "workloadId",
  (SELECT CASE WHEN octet_length(input) <= ${MAX_LISTED_INPUT_BYTES} THEN input ELSE 'null' END
    FROM job_inputs WHERE job_id = jobs.id) AS input`;

/**
 * Reads a page of an account's jobs, newest first. The query walks only index entries of matching jobs; in SQLite, a
 * filter by Cargo also walks the entries of other Cargos.
 */
export async function readJobList(
  tx: Tx,
  accountId: string,
  page: Page,
  filter: JobFilter,
): Promise<{ jobs: ListedJob[]; total: number }> {
  assertPage(page);
  const sql = jobListSql(tx.dialect, filter);
  const values = { accountId, ...page, ...filter };
  /** `input`: null if it was removed; the text `null` if it is too long for a list. */
  type Row = Omit<ListedJob, "input"> & { readonly input: string | null };
  const rows = await tx.all<Row>(sql.page, values);
  const { total } = await tx.only<{ total: number }>(sql.count, values);
  const jobs = rows.map(({ input, ...row }) => ({ ...row, input: JSON.parse(input ?? "{}") as JobInput | null }));
  return { jobs, total };
}

/** Returns SQL that merges several sources, each read from an index that is sorted by id. */
export function jobListSql(dialect: Dialect, filter: JobFilter): { readonly page: string; readonly count: string } {
  const sources = dialect === "sqlite" ? sqliteSources(filter) : postgresSources(filter);
  // PostgreSQL merges sources by index only if each one is sorted and limited.
  const newest = "ORDER BY id DESC LIMIT CAST(@limit AS bigint) + CAST(@offset AS bigint)";
  const ids = sources.map((source) =>
    dialect === "sqlite" ? `SELECT id ${source}` : `(SELECT id ${source} ${newest})`,
  );
  const merged = ids.join(" UNION ALL ");
  const from = dialect === "sqlite" ? merged : `SELECT id FROM (${merged}) AS newest`;
  return {
    page: `SELECT ${LISTED_COLUMNS} FROM jobs WHERE id IN (${from} ORDER BY id DESC LIMIT @limit OFFSET @offset)
      ORDER BY id DESC`,
    count: `SELECT ${sources.map((source) => `(SELECT count(*) ${source})`).join(" + ")} AS total`,
  };
}

// Both functions return FROM clauses that together match the filter; each job is in exactly one of them.

function sqliteSources({ states, slug, batchId }: JobFilter): string[] {
  const { wanted, ended, live } = partsOf(states);
  if (wanted.length === 0) return ["FROM jobs WHERE false"];
  const ofCargo = slug === undefined ? "" : "AND slug = @slug";
  const of = (index: string): string => `FROM jobs INDEXED BY ${index} WHERE account_id = @accountId ${ofCargo}`;
  // A batch has at most 100 jobs.
  if (batchId !== undefined) return [`${of("jobs_by_batch")} AND batch_id = @batchId ${inStates(wanted)}`];
  const sources = ended.map((state) => `${of("jobs_ended_by_state")} AND ${LISTED} AND state = '${state}'`);
  if (ended.length > 0) sources.push(`${of("jobs_unlisted")} AND ${UNLISTED} ${inStates(ended)}`);
  if (live.length > 0) sources.push(`${of("jobs_live")} AND completed_at_ms IS NULL ${inStates(live)}`);
  return sources;
}

function postgresSources({ states, slug, batchId }: JobFilter): string[] {
  const { wanted, ended, live } = partsOf(states);
  if (wanted.length === 0) return ["FROM jobs WHERE false"];
  const jobs = `FROM jobs WHERE account_id = @accountId ${slug === undefined ? "" : "AND slug = @slug"}`;
  if (batchId !== undefined) return [`${jobs} AND batch_id = @batchId ${inStates(wanted)}`];
  const sources = ended.map((state) => `${jobs} AND state = '${state}' AND completed_at_ms IS NOT NULL`);
  if (live.length > 0) sources.push(`${jobs} AND completed_at_ms IS NULL ${inStates(live)}`);
  return sources;
}

function partsOf(states: JobFilter["states"]) {
  const wanted = JOB_STATES.filter((state) => states?.includes(state) ?? true);
  const ended = wanted.filter((state) => isTerminal(state));
  return { wanted, ended, live: wanted.filter((state) => !isTerminal(state)) };
}

function inStates(states: readonly JobState[]): string {
  return `AND state IN (${sqlListOf(states)})`;
}
