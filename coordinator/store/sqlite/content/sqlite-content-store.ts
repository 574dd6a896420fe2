import type Database from "better-sqlite3";
import type { ContentPart, ContentStore, RemovalSubject } from "../../content-store.ts";
import type { Writer } from "../engine/writer.ts";
import { EXPIRED, JOBS_OF } from "./content-tables.ts";

/** As `PRAGMA auto_vacuum` says it. */
const INCREMENTAL_VACUUM = 2;

/** A job may end earlier by the wall clock than jobs before it, if the clock is set back. */
const MAX_CLOCK_JUMP_MS = 3_600_000;

interface PageOfJobs {
  readonly id: string;
  readonly after: string;
  readonly limit: number;
}

interface ExpiredRow {
  readonly id: string;
  readonly endedAtMs: number;
}

export class SqliteContentStore implements ContentStore {
  readonly canReclaim: boolean;
  readonly #writer: Writer;
  readonly #selectUnderWay: Database.Statement<[], RemovalSubject>;
  readonly #selectJobs: Readonly<Record<RemovalSubject["kind"], Database.Statement<[PageOfJobs], string>>>;
  readonly #selectExpired: Readonly<
    Record<ContentPart, Database.Statement<[{ sinceMs: number; endedByMs: number; limit: number }], ExpiredRow>>
  >;
  /** No job that ended before has the part. A start looks at all again. */
  readonly #removedUntilMs: Record<ContentPart, number> = { input: 0, output: 0 };

  constructor(db: Database.Database, writer: Writer) {
    this.#writer = writer;
    this.canReclaim = db.pragma("auto_vacuum", { simple: true }) === INCREMENTAL_VACUUM;
    this.#selectUnderWay = db.prepare("SELECT kind, id FROM removals ORDER BY at_ms");
    const jobs = (sql: string) => db.prepare<[PageOfJobs], string>(sql).pluck();
    this.#selectJobs = {
      job: jobs(JOBS_OF.job),
      output: jobs(JOBS_OF.output),
      conversation: jobs(JOBS_OF.conversation),
      account: jobs(JOBS_OF.account),
    };
    this.#selectExpired = { input: db.prepare(EXPIRED.input), output: db.prepare(EXPIRED.output) };
  }

  async takeSweep(): Promise<boolean> {
    return true;
  }

  begin({ kind, id }: RemovalSubject, atMs: number): Promise<void> {
    return this.#writer.run("beginRemoval", { kind, id, atMs });
  }

  async underWay(): Promise<RemovalSubject[]> {
    return this.#selectUnderWay.all();
  }

  async jobsOf({ kind, id }: RemovalSubject, afterId: string, limit: number): Promise<string[]> {
    return this.#selectJobs[kind].all({ id, after: afterId, limit });
  }

  async expired(part: ContentPart, endedByMs: number, limit: number): Promise<string[]> {
    const found = this.#selectExpired[part].all({ sinceMs: this.#removedUntilMs[part], endedByMs, limit });
    this.#removedUntilMs[part] =
      found[0]?.endedAtMs ?? Math.max(this.#removedUntilMs[part], endedByMs - MAX_CLOCK_JUMP_MS);
    return found.map(({ id }) => id);
  }

  remove(...[jobIds, removal]: Parameters<ContentStore["remove"]>): Promise<number> {
    return this.#writer.run("removeContent", { jobIds, ...removal });
  }

  removeOfAccount(accountId: string): Promise<boolean> {
    return this.#writer.run("removeOfAccount", { accountId });
  }

  finish({ kind, id }: RemovalSubject, atMs: number): Promise<boolean> {
    return this.#writer.run("finishRemoval", { kind, id, atMs });
  }

  removeWebhooks(endedByMs: number, limit: number): Promise<number> {
    return this.#writer.run("removeWebhooks", { endedByMs, limit });
  }

  reclaim(): Promise<boolean> {
    return this.#writer.run("reclaim", {});
  }

  truncateLog(): Promise<boolean> {
    return this.#writer.truncateLog();
  }
}
