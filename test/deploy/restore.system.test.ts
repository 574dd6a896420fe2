import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { postgresPrograms, PostgresServer } from "../support/servers/postgres-server.ts";
import { command, createAccount, serving, readSigningKey, readStatuses } from "./operator-steps.ts";

const run = promisify(execFile);
const KEY = "5".repeat(64);

// The commands of docs/operate/backup-upgrade.md.
describe("a backup of a running coordinator, restored in another database", () => {
  it("contains the same data, and works with the separately stored cluster key", async () => {
    using folder = temporaryFolder();
    await using server = await PostgresServer.start();
    const bin = (await postgresPrograms()) ?? "";
    const file = folder.file("atoll.dump");
    const env = { ATOLL_STORE: await server.createDatabase("atoll"), ATOLL_CLUSTER_KEY: KEY };
    const installation = { flags: [], env };
    const [before, after, key] = await serving(installation, async () => {
      const first = await createAccount(installation, "before@example.com");
      await run(join(bin, "pg_dump"), ["--format=custom", `--file=${file}`, env.ATOLL_STORE]);
      return [
        first,
        await createAccount(installation, "after@example.com"),
        await readSigningKey(installation),
      ] as const;
    });
    const restored = { ...installation, env: { ...env, ATOLL_STORE: await server.createDatabase("restored") } };
    const into = `--dbname=${restored.env.ATOLL_STORE}`;
    await run(join(bin, "pg_restore"), ["--exit-on-error", "--no-owner", into, file]);
    expect(await command(restored, "check")).toContain("intact");
    expect(await command(restored, "ledger", "verify")).toContain("balanced");
    await serving(restored, async (url) => {
      expect(await readStatuses(url, before, after)).toEqual([200, 401]);
      expect(await readSigningKey(restored)).toBe(key);
    });
    const wrongKey = { ...restored, env: { ...restored.env, ATOLL_CLUSTER_KEY: "6".repeat(64) } };
    await expect(command(wrongKey, "check")).rejects.toThrow(/key/i);
  });
});
