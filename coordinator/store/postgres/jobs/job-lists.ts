import { isTerminal, JOB_STATES } from "../../../../shared/job-state.ts";
import { listedJobOf, type JobFilter, type ListedJob, type ListedRow } from "../../job-store.ts";
import type { Page } from "../../page.ts";
import type { Session } from "../engine/connection.ts";
import { LISTED_COLUMNS } from "./job-columns.ts";

/** Reads an account's jobs, newest first. Each state is read in an index that is sorted by id, and the newest of all are merged. */
export async function readJobList(
  session: Session,
  accountId: string,
  { limit, offset }: Page,
  filter: JobFilter,
): Promise<{ jobs: ListedJob[]; total: number }> {
  const { page, count } = jobListSql(filter);
  const values = [accountId, filter.slug ?? filter.batchId ?? null, filter.slug === undefined ? null : filter.batchId];
  const used = values.slice(0, 1 + [filter.slug, filter.batchId].filter((value) => value !== undefined).length);
  const jobs = await session.all<ListedRow>(page, [...used, limit, offset]);
  const total = await session.one<{ total: number }>(count, used);
  return { jobs: jobs.map(listedJobOf), total: total?.total ?? 0 };
}

/** $1: the account; then the Cargo and the batch, as far as the filter has them; then limit and offset. */
export function jobListSql(filter: JobFilter): { readonly page: string; readonly count: string } {
  const sources = sourcesOf(filter);
  const [limit, offset] = [placesOf(filter) + 1, placesOf(filter) + 2].map((place) => `$${place}`);
  const ids = sources
    .map((source) => `(SELECT id ${source} ORDER BY id DESC LIMIT ${limit}::bigint + ${offset}::bigint)`)
    .join(" UNION ALL ");
  return {
    page: `SELECT ${LISTED_COLUMNS} FROM jobs WHERE id IN (
        SELECT id FROM (${ids}) AS newest ORDER BY id DESC LIMIT ${limit} OFFSET ${offset})
      ORDER BY id DESC`,
    count: `SELECT ${sources.map((source) => `(SELECT count(*) ${source})`).join(" + ")} AS total`,
  };
}

const placesOf = ({ slug, batchId }: JobFilter): number =>
  1 + Number(slug !== undefined) + Number(batchId !== undefined);

/** FROM clauses that together match the filter, each job in one of them. */
function sourcesOf(filter: JobFilter): string[] {
  const { states, slug, batchId } = filter;
  const wanted = JOB_STATES.filter((state) => states?.includes(state) ?? true);
  if (wanted.length === 0) return [`FROM jobs WHERE account_id = $1 AND ${unused(filter)} AND false`];
  const ofCargo = slug === undefined ? "" : "AND slug = $2";
  // A batch has at most 100 jobs.
  if (batchId !== undefined) {
    return [`FROM jobs WHERE account_id = $1 ${ofCargo} AND batch_id = $${placesOf(filter)} ${among(wanted)}`];
  }
  const live = wanted.filter((state) => !isTerminal(state));
  const sources = wanted
    .filter((state) => isTerminal(state))
    .map(
      (state) => `FROM jobs WHERE account_id = $1 AND state = '${state}' ${ofCargo} AND completed_at_ms IS NOT NULL`,
    );
  if (live.length > 0)
    sources.push(`FROM jobs WHERE account_id = $1 AND completed_at_ms IS NULL ${among(live)} ${ofCargo}`);
  return sources;
}

/** Every value of a statement must be used in it. */
function unused(filter: JobFilter): string {
  const places = Array.from({ length: placesOf(filter) - 1 }, (_, index) => `$${index + 2}::text IS NULL`);
  return places.length === 0 ? "true" : places.join(" AND ");
}

function among(states: readonly string[]): string {
  return `AND state IN (${states.map((state) => `'${state}'`).join(", ")})`;
}
