import { cpSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MIGRATIONS as postgres } from "../../coordinator/store/postgres/migrations/all.ts";
import { MIGRATIONS as sqlite } from "../../coordinator/store/sqlite/migrations/all.ts";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { commitBefore, hasFileAt, OlderVersion } from "../support/older-version.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { command, createAccount, serving, signingKeyOf, statusesOf, type Place } from "./operator-steps.ts";

/** Each database has a list of its own; the version before knows one migration less, or some. */
const MIGRATIONS = {
  sqlite: "coordinator/store/sqlite/migrations/all.ts",
  postgres: "coordinator/store/postgres/migrations/all.ts",
} as const;
const lastOf = (migrations: readonly { readonly version: number }[]): string =>
  `version: ${migrations.at(-1)?.version},`;
const COMMITS = {
  sqlite: commitBefore(lastOf(sqlite), MIGRATIONS.sqlite),
  postgres: commitBefore(lastOf(postgres), MIGRATIONS.postgres),
};
const hasOlder = hasFileAt(COMMITS.sqlite, MIGRATIONS.sqlite) && hasFileAt(COMMITS.postgres, MIGRATIONS.postgres);
if (!hasOlder) process.stderr.write("No test of an upgrade: the history has no older version\n");

const BALANCED = /the ledger is balanced/;

// The steps of docs/operations.md, "Upgrade and rollback".
describe.runIf(hasOlder)("an upgrade from the version before the last migration", () => {
  let older: { sqlite: OlderVersion; postgres: OlderVersion };
  beforeAll(async () => {
    older = { sqlite: await OlderVersion.open(COMMITS.sqlite), postgres: await OlderVersion.open(COMMITS.postgres) };
  });
  afterAll(() => Promise.all(Object.values(older).map((each) => each[Symbol.asyncDispose]())));

  it("of a data directory keeps all; the older version refuses it then, and serves the backup", async () => {
    using folder = temporaryFolder();
    const now: Place = { flags: ["--data", folder.file("data")] };
    const before: Place = { ...now, program: older.sqlite.program };
    const first = await createAccount(before, "first@example.com");
    const key = await serving(before, () => signingKeyOf(before));
    // Nobody uses it: a copy is as good as `coordinator backup`, which not every version has.
    cpSync(folder.file("data"), folder.file("backup"), { recursive: true });

    const second = await serving(now, async (url) => {
      expect(await signingKeyOf(now)).toBe(key);
      const made = await createAccount(now, "second@example.com");
      expect(await statusesOf(url, first, made)).toEqual([200, 200]);
      return made;
    });
    expect(await command(now, "ledger", "verify")).toMatch(BALANCED);

    for (const words of [
      ["serve", "--port", "0"],
      ["ledger", "verify"],
    ]) {
      await expect(command(before, ...words), words.join(" ")).rejects.toThrow(/newer than this program/);
    }
    // Refused, it has changed nothing.
    expect(await serving(now, (url) => statusesOf(url, first, second))).toEqual([200, 200]);

    const restored = { ...before, flags: ["--data", folder.file("backup")] };
    expect(await command(restored, "ledger", "verify")).toMatch(BALANCED);
    await serving(restored, async (url) => {
      expect(await signingKeyOf(restored)).toBe(key);
      expect(await statusesOf(url, first, second)).toEqual([200, 401]);
    });
  });

  it("of PostgreSQL keeps all, and the older version goes on with it where the migration leaves room", async () => {
    await using server = await PostgresServer.start();
    const address = await server.createDatabase("atoll");
    const now: Place = { flags: [], env: { ATOLL_STORE: address, ATOLL_CLUSTER_KEY: "5".repeat(64) } };
    const before: Place = { ...now, program: older.postgres.program };
    const first = await createAccount(before, "first@example.com");
    const key = await serving(before, () => signingKeyOf(before));
    const second = await serving(now, async () => {
      expect(await signingKeyOf(now)).toBe(key);
      return createAccount(now, "second@example.com");
    });
    if (postgres.at(-1)?.oldest !== undefined) {
      const third = await serving(before, async (url) => {
        expect(await signingKeyOf(before)).toBe(key);
        const made = await createAccount(before, "third@example.com");
        expect(await statusesOf(url, first, second, made)).toEqual([200, 200, 200]);
        return made;
      });
      expect(await command(before, "ledger", "verify")).toMatch(BALANCED);
      expect(await serving(now, (url) => statusesOf(url, third))).toEqual([200]);
    }
    expect(await serving(now, (url) => statusesOf(url, first, second))).toEqual([200, 200]);
    expect(await command(now, "ledger", "verify")).toMatch(BALANCED);
    // One that is too old for a migration says so, and changes nothing.
    await server.query(
      "UPDATE migrations SET oldest = version WHERE version = (SELECT max(version) FROM migrations)",
      "atoll",
    );
    await expect(command(before, "serve", "--port", "0")).rejects.toThrow(/newer than this program/);
    expect(await serving(now, (url) => statusesOf(url, first))).toEqual([200]);
  });
});
