import { cpSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { hasFileAt, OlderVersion } from "../support/network/older-version.ts";
import { PostgresServer } from "../support/servers/postgres-server.ts";
import { command, createAccount, serving, readSigningKey, readStatuses, type Installation } from "./operator-steps.ts";

/** The last version before the baseline of both databases. */
const COMMIT = "d7ab646b";
const hasOlder = hasFileAt(COMMIT, "coordinator/store/sqlite/migrations/all.ts");
if (!hasOlder) process.stderr.write("No test of an upgrade: the history has no older version\n");

/** Error of the older version for a newer schema. */
const REFUSED = /differs from the one that was applied/;
const BALANCED = /the ledger is balanced/;

// The steps of "Upgrade one coordinator" and "Roll back" in docs/operate/backup-upgrade.md.
describe.runIf(hasOlder)("an upgrade from the version before the baseline", () => {
  let older: OlderVersion;
  beforeAll(async () => {
    older = await OlderVersion.open(COMMIT);
  });
  afterAll(() => older[Symbol.asyncDispose]());

  it("keeps all data of a data directory, which the older version then rejects, although it serves the backup", async () => {
    using folder = temporaryFolder();
    const now: Installation = { flags: ["--data", folder.file("data")] };
    const before: Installation = { ...now, program: older.program };
    const first = await createAccount(before, "first@example.com");
    const key = await serving(before, () => readSigningKey(before));
    // The test copies the unused directory, because older versions have no `coordinator backup`.
    cpSync(folder.file("data"), folder.file("backup"), { recursive: true });

    const second = await serving(now, async (url) => {
      expect(await readSigningKey(now)).toBe(key);
      const made = await createAccount(now, "second@example.com");
      expect(await readStatuses(url, first, made)).toEqual([200, 200]);
      return made;
    });
    expect(await command(now, "ledger", "verify")).toMatch(BALANCED);

    for (const words of [
      ["serve", "--port", "0"],
      ["ledger", "verify"],
    ]) {
      await expect(command(before, ...words), words.join(" ")).rejects.toThrow(REFUSED);
    }
    // The refused start has changed nothing.
    expect(await serving(now, (url) => readStatuses(url, first, second))).toEqual([200, 200]);

    const restored = { ...before, flags: ["--data", folder.file("backup")] };
    expect(await command(restored, "ledger", "verify")).toMatch(BALANCED);
    await serving(restored, async (url) => {
      expect(await readSigningKey(restored)).toBe(key);
      expect(await readStatuses(url, first, second)).toEqual([200, 401]);
    });
  });

  it("keeps all data of a database, which the older version then rejects", async () => {
    await using server = await PostgresServer.start();
    const address = await server.createDatabase("atoll");
    const now: Installation = { flags: [], env: { ATOLL_STORE: address, ATOLL_CLUSTER_KEY: "5".repeat(64) } };
    const before: Installation = { ...now, program: older.program };
    const first = await createAccount(before, "first@example.com");
    const key = await serving(before, () => readSigningKey(before));
    const second = await serving(now, async () => {
      expect(await readSigningKey(now)).toBe(key);
      return createAccount(now, "second@example.com");
    });
    expect(await serving(now, (url) => readStatuses(url, first, second))).toEqual([200, 200]);
    expect(await command(now, "ledger", "verify")).toMatch(BALANCED);
    // The refused start has changed nothing.
    await expect(command(before, "serve", "--port", "0")).rejects.toThrow(REFUSED);
    expect(await serving(now, (url) => readStatuses(url, first))).toEqual([200]);
  });
});
