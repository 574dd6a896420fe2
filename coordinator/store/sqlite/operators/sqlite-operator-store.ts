import type Database from "better-sqlite3";
import type { AuditedDeed, AuditEntry, AuditLog, NotedWrites } from "../../audit-log.ts";
import { ACCOUNT_BY_ID, ISLAND_BY_ID, latestDeeds, type AccountRow, type IslandRow } from "../../operator-queries.ts";
import type {
  Announcement,
  Grant,
  KnownAccount,
  KnownIsland,
  OperatorStore,
  Suspension,
} from "../../operator-store.ts";
import type { Role } from "../../account-store.ts";
import { assertPage } from "../../page.ts";
import type { Reader } from "../engine/reader.ts";
import type { Writer } from "../engine/writer.ts";
import { accountOf, islandOf } from "./operator-reads.ts";

interface SuspendedRow {
  readonly id: string;
  readonly because: string;
}

export class SqliteOperatorStore implements OperatorStore {
  readonly #writer: Pick<Writer, "run">;
  readonly #reader: Reader;
  readonly #selectAccount: Database.Statement<[object], AccountRow>;
  readonly #selectIsland: Database.Statement<[object], IslandRow>;
  readonly #selectAccounts: Database.Statement<[], SuspendedRow>;
  readonly #selectIslands: Database.Statement<[], SuspendedRow>;
  readonly #selectAnnouncements: Database.Statement<[number], Announcement>;

  constructor(db: Database.Database, reader: Reader, writer: Pick<Writer, "run">) {
    this.#writer = writer;
    this.#reader = reader;
    this.#selectAccount = db.prepare(ACCOUNT_BY_ID);
    this.#selectIsland = db.prepare(ISLAND_BY_ID);
    this.#selectAccounts = db.prepare(
      "SELECT id, suspended_because AS because FROM accounts WHERE suspended_at_ms IS NOT NULL",
    );
    this.#selectIslands = db.prepare("SELECT host_id AS id, because FROM suspended_islands");
    this.#selectAnnouncements = db.prepare(
      `SELECT id, level, text, created_at_ms AS createdAtMs, until_ms AS untilMs FROM announcements
       WHERE until_ms IS NULL OR until_ms > ? ORDER BY id DESC`,
    );
  }

  grant(grant: Grant): Promise<boolean> {
    return this.#writer.run("grant", grant);
  }

  setRole(accountId: string, role: Role): Promise<boolean> {
    return this.#writer.run("setRole", { accountId, role });
  }

  suspendAccount(accountId: string, suspension: Suspension): Promise<boolean> {
    return this.#writer.run("suspendAccount", { accountId, ...suspension });
  }

  reinstateAccount(accountId: string): Promise<boolean> {
    return this.#writer.run("reinstateAccount", { accountId });
  }

  suspendIsland(hostId: string, suspension: Suspension): Promise<boolean> {
    return this.#writer.run("suspendIsland", { hostId, ...suspension });
  }

  reinstateIsland(hostId: string): Promise<boolean> {
    return this.#writer.run("reinstateIsland", { hostId });
  }

  async suspensions(): ReturnType<OperatorStore["suspensions"]> {
    return { accounts: byId(this.#selectAccounts.all()), islands: byId(this.#selectIslands.all()) };
  }

  async accounts(...[filter, page]: Parameters<OperatorStore["accounts"]>): ReturnType<OperatorStore["accounts"]> {
    assertPage(page);
    return this.#reader.run("knownAccounts", { filter, page });
  }

  async account(accountId: string): Promise<KnownAccount | undefined> {
    const row = this.#selectAccount.get({ 1: accountId });
    return row === undefined ? undefined : accountOf(row);
  }

  async islands(...[filter, page]: Parameters<OperatorStore["islands"]>): ReturnType<OperatorStore["islands"]> {
    assertPage(page);
    return this.#reader.run("knownIslands", { filter, page });
  }

  async island(hostId: string): Promise<KnownIsland | undefined> {
    const row = this.#selectIsland.get({ 1: hostId });
    return row === undefined ? undefined : islandOf(row);
  }

  countIslands(seenSinceMs: number): ReturnType<OperatorStore["countIslands"]> {
    return this.#reader.run("countIslands", { seenSinceMs });
  }

  async jobs(...[filter, page]: Parameters<OperatorStore["jobs"]>): ReturnType<OperatorStore["jobs"]> {
    assertPage(page);
    return this.#reader.run("knownJobs", { filter, page });
  }

  unfinishedJobs(): ReturnType<OperatorStore["unfinishedJobs"]> {
    return this.#reader.run("unfinishedJobs", {});
  }

  announce(...[announcement, limits]: Parameters<OperatorStore["announce"]>): Promise<boolean> {
    return this.#writer.run("announce", { ...announcement, ...limits });
  }

  removeAnnouncement(id: string): Promise<boolean> {
    return this.#writer.run("removeAnnouncement", { id });
  }

  async announcements(nowMs: number): Promise<Announcement[]> {
    return this.#selectAnnouncements.all(nowMs);
  }
}

export class SqliteAuditLog implements AuditLog {
  readonly #writer: Pick<Writer, "run">;
  readonly #reader: Reader;
  readonly #storesOn: (entry: AuditEntry, writer: Pick<Writer, "run">) => NotedWrites;
  readonly #selectLatest: Database.Statement<[number], AuditedDeed>;

  constructor(
    db: Database.Database,
    reader: Reader,
    writer: Pick<Writer, "run">,
    storesOn: (entry: AuditEntry, writer: Pick<Writer, "run">) => NotedWrites,
  ) {
    this.#reader = reader;
    this.#writer = writer;
    this.#storesOn = storesOn;
    this.#selectLatest = db.prepare(latestDeeds("?"));
  }

  noting(entry: AuditEntry): NotedWrites {
    return this.#storesOn(entry, {
      // An operation resolves to its result, whichever it is.
      run: (kind, args) => this.#writer.run("noted", { entry, kind, args }) as Promise<never>,
    });
  }

  append(entry: AuditEntry): Promise<void> {
    return this.#writer.run("appendAudit", entry);
  }

  async list(...[filter, page]: Parameters<AuditLog["list"]>): ReturnType<AuditLog["list"]> {
    assertPage(page);
    return this.#reader.run("audit", { filter, page });
  }

  async latest(limit: number): Promise<AuditedDeed[]> {
    return this.#selectLatest.all(limit);
  }
}

function byId(rows: readonly SuspendedRow[]): ReadonlyMap<string, string> {
  return new Map(rows.map(({ id, because }) => [id, because]));
}
