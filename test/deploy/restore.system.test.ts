import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { postgresPrograms, PostgresServer } from "../support/servers/postgres-server.ts";
import { command, createAccount, serving, signingKeyOf, statusesOf } from "./operator-steps.ts";

const run = promisify(execFile);
const KEY = "5".repeat(64);

// The commands of docs/operate/backup-upgrade.md.
describe("a backup that is made while a coordinator serves, restored in another place", () => {
  it("of PostgreSQL has the same, with the cluster key that was kept apart", async () => {
    using folder = temporaryFolder();
    await using server = await PostgresServer.start();
    const bin = (await postgresPrograms()) ?? "";
    const file = folder.file("atoll.dump");
    const env = { ATOLL_STORE: await server.createDatabase("atoll"), ATOLL_CLUSTER_KEY: KEY };
    const place = { flags: [], env };
    const [before, after, key] = await serving(place, async () => {
      const first = await createAccount(place, "before@example.com");
      await run(join(bin, "pg_dump"), ["--format=custom", `--file=${file}`, env.ATOLL_STORE]);
      return [first, await createAccount(place, "after@example.com"), await signingKeyOf(place)] as const;
    });
    const restored = { ...place, env: { ...env, ATOLL_STORE: await server.createDatabase("restored") } };
    const into = `--dbname=${restored.env.ATOLL_STORE}`;
    await run(join(bin, "pg_restore"), ["--exit-on-error", "--no-owner", into, file]);
    expect(await command(restored, "check")).toContain("intact");
    expect(await command(restored, "ledger", "verify")).toContain("balanced");
    await serving(restored, async (url) => {
      expect(await statusesOf(url, before, after)).toEqual([200, 401]);
      expect(await signingKeyOf(restored)).toBe(key);
    });
    const wrongKey = { ...restored, env: { ...restored.env, ATOLL_CLUSTER_KEY: "6".repeat(64) } };
    await expect(command(wrongKey, "check")).rejects.toThrow(/key/i);
  });
});
