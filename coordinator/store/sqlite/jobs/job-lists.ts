import type Database from "better-sqlite3";
import { isTerminal, JOB_STATES } from "../../../../shared/job-state.ts";
import { listedJobOf, type JobFilter, type ListedJob, type ListedRow } from "../../job-store.ts";
import type { Page } from "../../page.ts";
import { LISTED, UNLISTED } from "./job-listing.ts";
import { LISTED_COLUMNS } from "./job-rows.ts";

const LIVE_STATES = JOB_STATES.filter((state) => !isTerminal(state));

interface ListValues extends Page {
  readonly accountId: string;
  readonly slug: string | null;
  readonly batchId: string | null;
}

/** The statements for one shape of filter. */
interface JobList {
  readonly page: Database.Statement<[ListValues], ListedRow>;
  readonly count: Database.Statement<[ListValues], number>;
}

/**
 * Reads an account's jobs, newest first. For every filter a page walks only an index, and in it only jobs that match; with a filter by
 * Cargo, also those of other Cargos.
 */
export class JobLists {
  readonly #db: Database.Database;
  /** Prepared statements by the SQL of their page. There are few: subsets of the states, with or without Cargo and batch. */
  readonly #lists = new Map<string, JobList>();

  constructor(db: Database.Database) {
    this.#db = db;
  }

  read(accountId: string, page: Page, filter: JobFilter): { jobs: ListedJob[]; total: number } {
    const list = this.#listBy(filter);
    const values = { accountId, ...page, slug: filter.slug ?? null, batchId: filter.batchId ?? null };
    return { jobs: list.page.all(values).map(listedJobOf), total: list.count.get(values) ?? 0 };
  }

  #listBy(filter: JobFilter): JobList {
    const { page, count } = jobListSql(filter);
    let list = this.#lists.get(page);
    if (list === undefined) {
      list = { page: this.#db.prepare(page), count: this.#db.prepare<[ListValues], number>(count).pluck() };
      this.#lists.set(page, list);
    }
    return list;
  }
}

/** Merges sources by id; each reads an index that is sorted by id. */
export function jobListSql(filter: JobFilter): { readonly page: string; readonly count: string } {
  const sources = sourcesOf(filter);
  const ids = sources.map((source) => `SELECT id ${source}`).join(" UNION ALL ");
  return {
    page: `SELECT ${LISTED_COLUMNS} FROM jobs WHERE id IN (${ids} ORDER BY id DESC LIMIT @limit OFFSET @offset)
      ORDER BY id DESC`,
    count: `SELECT ${sources.map((source) => `(SELECT count(*) ${source})`).join(" + ")}`,
  };
}

/** FROM clauses that together match the filter, each job in one of them. */
function sourcesOf({ states, slug, batchId }: JobFilter): string[] {
  const wanted = JOB_STATES.filter((state) => states?.includes(state) ?? true);
  if (wanted.length === 0) return ["FROM jobs WHERE false"];
  const ofCargo = slug === undefined ? "" : "AND slug = @slug";
  // A batch has at most 100 jobs.
  if (batchId !== undefined) {
    return [
      `FROM jobs INDEXED BY jobs_by_batch WHERE batch_id = @batchId AND account_id = @accountId ${among(wanted)} ${ofCargo}`,
    ];
  }
  const ended = wanted.filter((state) => isTerminal(state));
  const live = wanted.filter((state) => LIVE_STATES.includes(state));
  const sources = ended.map(
    (state) =>
      `FROM jobs INDEXED BY jobs_ended_by_state WHERE ${LISTED} AND account_id = @accountId AND state = '${state}' ${ofCargo}`,
  );
  if (ended.length > 0) {
    sources.push(
      `FROM jobs INDEXED BY jobs_unlisted WHERE ${UNLISTED} AND account_id = @accountId ${among(ended)} ${ofCargo}`,
    );
  }
  if (live.length > 0) {
    sources.push(
      `FROM jobs INDEXED BY jobs_live WHERE account_id = @accountId AND completed_at_ms IS NULL ${among(live)} ${ofCargo}`,
    );
  }
  return sources;
}

function among(states: readonly string[]): string {
  return `AND state IN (${states.map((state) => `'${state}'`).join(", ")})`;
}
