import { randomBytes } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DATABASE_FILE, openStore } from "../../../../coordinator/store/open-store.ts";
import { COPIED_TABLES } from "../../../../coordinator/store/move/copied-tables.ts";
import type { MigrationEndpoint } from "../../../../coordinator/store/move/migration-endpoint.ts";
import { moveData, openEnd, type MoveReport } from "../../../../coordinator/store/move/move-data.ts";
import { migrate } from "../../../../coordinator/store/postgres/engine/migrate.ts";
import { MIGRATIONS } from "../../../../coordinator/store/postgres/migrations.ts";
import { lockForServing } from "../../../../coordinator/store/sqlite/engine/serve-lock.ts";
import type { StoreLocation } from "../../../../coordinator/store/store-location.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { PostgresServer } from "../../../support/servers/postgres-server.ts";
import { withPostgres } from "../../../support/servers/with-servers.ts";
import { completeJob, makeAccount, temporaryFolder } from "../contract/store-builders.ts";
import { expectCovered } from "./copied-columns.ts";
import { fillStore, pictureOf } from "./move-world.ts";

/** Columns of PostgreSQL that a migration sets. */
const OWN_OF_POSTGRES = [
  "audits.auditor_id",
  "balances.job_places",
  "checks.*",
  "coordinators.*",
  // Ends of the last hour, from which running coordinators learn which streams end.
  "credential_ends.*",
  // The target aggregates this again from the ledger.
  "earnings_cursor.*",
  "usage_cursor.*",
  "account_usage.*",
  "island_earnings.*",
  "jobs.has_place",
  "jobs.lost_island_id",
  "jobs.owner_id",
  "messages.keeper_id",
  "migrations.*",
  "network_moves.*",
  // Secrets are copied by name, because each database encrypts them with another key.
  "secrets.*",
  "turns.*",
  "webhooks.sender_id",
];
const clock = new ManualClock();
const key = randomBytes(32);
let databases = 0;
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder[Symbol.dispose]());

async function withStore<T>(location: StoreLocation, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(location, clock);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** `wrap` wraps the source, to inject faults. */
async function move(
  from: StoreLocation,
  to: StoreLocation,
  wrap = (end: MigrationEndpoint) => end,
): Promise<MoveReport> {
  await using stack = new AsyncDisposableStack();
  const open = async (location: StoreLocation) => stack.adopt(await openEnd(location, clock), (end) => end.close());
  const source = wrap(await open(from));
  return await moveData(source, await open(to), () => undefined);
}

/** Returns a wrapper whose target fails before the page with this number. */
function failingAt(pages: number): (end: MigrationEndpoint) => MigrationEndpoint {
  let read = 0;
  return (end) =>
    new Proxy(end, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name !== "page") return typeof value === "function" ? (value.bind(target) as unknown) : value;
        return async (...args: Parameters<MigrationEndpoint["page"]>) => {
          const page = await target.page(...args);
          if (page.length > 0) read += 1;
          if (page.length > 0 && read === pages) throw new Error("cut");
          return page;
        };
      },
    });
}

await withPostgres(describeMove);

function describeMove(server: PostgresServer): void {
  const newDatabase = async (): Promise<StoreLocation> => {
    databases += 1;
    return { address: await server.createDatabase(`moved${databases}`), key };
  };

  describe("moveData()", () => {
    it("copies all tables of PostgreSQL, with all columns", async () => {
      const name = nameOf(await newDatabase());
      await migrate(server.addressOf(name), MIGRATIONS, 1);
      const { rows } = await server.query(
        "SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'",
        name,
      );
      const columns = rows.map((row: { name: string }) => row.name);
      expectCovered(columns, OWN_OF_POSTGRES);
    });

    it("migrates everything to PostgreSQL and back, and both stores return the same data and stay usable", async () => {
      const [here, there, back] = [folder.file("here"), await newDatabase(), folder.file("back")];
      const { filled, before } = await withStore(here, async (store) => {
        const made = await fillStore(store);
        return { filled: made, before: await pictureOf(store, made) };
      });
      addEarlierChunk(here, filled.jobIds[3] ?? "");
      const { rows, ledger } = await move(here, there);
      expect(Object.keys(rows)).toEqual(COPIED_TABLES.map(({ name }) => name));
      // These jobs count against their account's limit. Waiting jobs of a batch do not count yet.
      const slots = await server.query("SELECT party, job_places FROM balances WHERE job_places > 0", nameOf(there));
      expect(slots.rows).toEqual([{ party: `client:${filled.accountIds[0]}`, job_places: 3 }]);
      expect(ledger).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
      const withEarlier = await withStore(there, async (store) => {
        const { feeds, ...rest } = (await pictureOf(store, filled)) as { feeds: unknown[][] };
        const { feeds: feedsBefore, ...restBefore } = before as typeof rest & { feeds: unknown[] };
        expect(rest).toEqual(restBefore);
        expect(feeds.with(3, [])).toEqual(feedsBefore.with(3, []));
        await goOn(store, filled.accountIds[0] ?? "");
        return pictureOf(store, filled);
      });
      await move(there, back);
      await withStore(back, async (store) => {
        expect(await pictureOf(store, filled)).toEqual(withEarlier);
        await goOn(store, filled.accountIds[0] ?? "");
      });
    });

    it("resumes after an interruption, keeps both ends closed until it is done, and the source closed afterwards", async () => {
      const [from, to] = [folder.file("from"), await newDatabase()];
      await withStore(from, fillStore);
      await expect(move(from, to, failingAt(9))).rejects.toThrow("cut");
      await expect(openStore(from, clock)).rejects.toThrow(
        /a move of the data to postgres:.* is not complete\. Complete it with the command migrate/,
      );
      await expect(openStore(to, clock)).rejects.toThrow(/contains only part of the data of .*from/);
      await expect(move(from, folder.file("elsewhere"))).rejects.toThrow(
        /a move of the data to postgres.* is not complete/,
      );
      await expect(move(to, folder.file("other"))).rejects.toThrow(/only part/);
      const { rows } = await move(from, to);
      expect(rows["jobs"]).toBe(11);
      await expect(openStore(from, clock)).rejects.toThrow(/the data was moved to postgres/);
      await expect(move(from, to)).rejects.toThrow(/was already moved to postgres/);
      await withStore(to, (store) => store.check());
    });

    it("can be cancelled, after which the source can be opened again and the target cannot", async () => {
      const [from, to] = [folder.file("from"), await newDatabase()];
      await withStore(from, fillStore);
      await expect(move(from, to, failingAt(9))).rejects.toThrow("cut");
      const end = await openEnd(from, clock);
      await end.forget();
      await end.close();
      await withStore(from, (store) => makeAccount(store));
      await expect(move(from, to)).rejects.toThrow(/belongs to another move/);
    });

    it("is refused while either end is in use, and if the target is not empty", async () => {
      const [from, to] = [folder.file("from"), await newDatabase()];
      await withStore(from, fillStore);
      const lock = lockForServing(from);
      await expect(move(from, to)).rejects.toThrow(/another coordinator uses/);
      lock.release();
      await withStore(to, async (store) => {
        await makeAccount(store);
        await expect(move(to, folder.file("back"))).rejects.toThrow(/connections of coordinators .* use the database/);
        // The refused move left no mark in the database.
        await withStore(to, (other) => other.check());
      });
      await expect(move(from, to)).rejects.toThrow(/must be empty, but it has rows in accounts/);
      await withStore(from, (store) => store.check());
    });

    it("detects a differing row, and leaves the target closed", async () => {
      const [from, to] = [folder.file("from"), await newDatabase()];
      await withStore(from, fillStore);
      await expect(move(from, to, failingAt(COPIED_TABLES.length + 3))).rejects.toThrow("cut");
      await server.query("UPDATE messages SET content = '\"other\"' WHERE role = 'user'", nameOf(to));
      await expect(move(from, to)).rejects.toThrow(/of messages differs from the original/);
      await expect(openStore(to, clock)).rejects.toThrow(/only part of the data/);
    });
  });
}

const nameOf = (location: StoreLocation): string =>
  typeof location === "string" ? "" : (location.address.split("/").at(-1) ?? "");

/** Runs and charges a job and asks a question, with new keys after the copied ones. */
async function goOn(store: Store, accountId: string): Promise<void> {
  const jobId = await completeJob(store, accountId);
  expect((await store.ledger.list(accountId, { limit: 1, offset: 0 })).lines[0]).toMatchObject({ jobId });
  expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [] });
  expect(await store.jobs.feed(jobId)).toHaveLength(1);
}

/** Adds a chunk as an earlier version wrote it, with all items as JSON and without a text. */
function addEarlierChunk(directory: string, jobId: string): void {
  const db = new Database(join(directory, DATABASE_FILE));
  const items = JSON.stringify([{ type: "token", content: "earlier \u0000", count: 1 }]);
  db.prepare("INSERT INTO feed_chunks (job_id, attempt, seq, items) VALUES (?, 1, 9, ?)").run(jobId, items);
  db.close();
}
