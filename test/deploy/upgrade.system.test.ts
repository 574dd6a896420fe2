import { cpSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { hasFileAt, OlderVersion } from "../support/network/older-version.ts";
import { PostgresServer } from "../support/servers/postgres-server.ts";
import { command, createAccount, serving, signingKeyOf, statusesOf, type Place } from "./operator-steps.ts";

/** The last version before the baseline of both databases. */
const COMMIT = "d7ab646b";
const hasOlder = hasFileAt(COMMIT, "coordinator/store/sqlite/migrations/all.ts");
if (!hasOlder) process.stderr.write("No test of an upgrade: the history has no older version\n");

/** The older version knows no baseline. */
const REFUSED = /differs from the one that was applied/;
const BALANCED = /the ledger is balanced/;

// The steps of docs/operate/backup-upgrade.md, "Upgrade one coordinator" and "Roll back".
describe.runIf(hasOlder)("an upgrade from the version before the baseline", () => {
  let older: OlderVersion;
  beforeAll(async () => {
    older = await OlderVersion.open(COMMIT);
  });
  afterAll(() => older[Symbol.asyncDispose]());

  it("of a data directory keeps all; the older version refuses it then, and serves the backup", async () => {
    using folder = temporaryFolder();
    const now: Place = { flags: ["--data", folder.file("data")] };
    const before: Place = { ...now, program: older.program };
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
      await expect(command(before, ...words), words.join(" ")).rejects.toThrow(REFUSED);
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

  it("of PostgreSQL keeps all, and the older version refuses it then", async () => {
    await using server = await PostgresServer.start();
    const address = await server.createDatabase("atoll");
    const now: Place = { flags: [], env: { ATOLL_STORE: address, ATOLL_CLUSTER_KEY: "5".repeat(64) } };
    const before: Place = { ...now, program: older.program };
    const first = await createAccount(before, "first@example.com");
    const key = await serving(before, () => signingKeyOf(before));
    const second = await serving(now, async () => {
      expect(await signingKeyOf(now)).toBe(key);
      return createAccount(now, "second@example.com");
    });
    expect(await serving(now, (url) => statusesOf(url, first, second))).toEqual([200, 200]);
    expect(await command(now, "ledger", "verify")).toMatch(BALANCED);
    // Refused, it changes nothing.
    await expect(command(before, "serve", "--port", "0")).rejects.toThrow(REFUSED);
    expect(await serving(now, (url) => statusesOf(url, first))).toEqual([200]);
  });
});
