import { execFile } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { call } from "../support/http.ts";
import { postgresPrograms, PostgresServer } from "../support/postgres-server.ts";
import { Program } from "../support/program.ts";
import { IS_FULL_SOAK } from "../support/soak-rounds.ts";

const run = promisify(execFile);
const KEY = "5".repeat(64);

/** Runs a command of `coordinator` to its end. @throws with its output when it fails. */
async function command(args: readonly string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await new Program("coordinator", args, env).ended();
  if (code !== 0) throw new Error(stdout + stderr);
  return stdout;
}

const create = async (email: string, where: readonly string[], env: Record<string, string>): Promise<string> => {
  const words = ["account", "create", "--email", email, "--password", "correct horse", "--with-key", "--json"];
  return (JSON.parse(await command([...words, ...where], env)) as { key: string }).key;
};

/** Serves with these settings, and calls `use` with the address. */
async function serving<T>(
  where: readonly string[],
  env: Record<string, string>,
  use: (url: string) => Promise<T>,
): Promise<T> {
  await using coordinator = new Program("coordinator", ["serve", "--port", "0", "--log-level", "warn", ...where], env);
  const [, url = ""] = await coordinator.printed(/listening on (\S+)\n/);
  return await use(url);
}

const statusOf = async (url: string, key: string): Promise<number> => (await call(url, key, "GET", "/account")).status;
/** What Islands have pinned. */
const pinned = async (url: string): Promise<unknown> => (await call(url, "", "GET", "/island/public-key")).body;

// The commands of docs/operations.md, "Backup and restore".
describe.runIf(IS_FULL_SOAK)("a backup that is made while a coordinator serves, restored in another place", () => {
  it("of a data directory has what was there then: accounts, keys, balances and the signing key", async () => {
    using folder = temporaryFolder();
    const [data, copy, restored] = ["data", "copy", "restored"].map((name) => folder.file(name)) as [
      string,
      string,
      string,
    ];
    const [before, after, key] = await serving(["--data", data], {}, async (url) => {
      const first = await create("before@example.com", ["--data", data], {});
      await command(["backup", copy, "--data", data], {});
      return [first, await create("after@example.com", ["--data", data], {}), await pinned(url)] as const;
    });
    cpSync(copy, restored, { recursive: true });
    expect(await command(["check", "--data", restored], {})).toContain("whole");
    expect(await command(["ledger", "verify", "--data", restored], {})).toContain("balanced");
    await serving(["--data", restored], {}, async (url) => {
      expect([await statusOf(url, before), await statusOf(url, after)]).toEqual([200, 401]);
      expect(await pinned(url)).toEqual(key);
    });
  });

  it("of PostgreSQL has the same, with the cluster key that was kept apart", async () => {
    using folder = temporaryFolder();
    await using server = await PostgresServer.start();
    if (server === null) return process.stderr.write("No backup of PostgreSQL: not installed (Debian: postgresql)\n");
    const bin = (await postgresPrograms()) ?? "";
    const file = folder.file("atoll.dump");
    const env = { ATOLL_STORE: await server.createDatabase("atoll"), ATOLL_CLUSTER_KEY: KEY };
    const [before, after, key] = await serving([], env, async (url) => {
      const first = await create("before@example.com", [], env);
      await run(join(bin, "pg_dump"), ["--format=custom", `--file=${file}`, env.ATOLL_STORE]);
      return [first, await create("after@example.com", [], env), await pinned(url)] as const;
    });
    const restored = { ...env, ATOLL_STORE: await server.createDatabase("restored") };
    await run(join(bin, "pg_restore"), ["--exit-on-error", "--no-owner", `--dbname=${restored.ATOLL_STORE}`, file]);
    expect(await command(["check"], restored)).toContain("whole");
    expect(await command(["ledger", "verify"], restored)).toContain("balanced");
    await serving([], restored, async (url) => {
      expect([await statusOf(url, before), await statusOf(url, after)]).toEqual([200, 401]);
      expect(await pinned(url)).toEqual(key);
    });
    await expect(command(["check"], { ...restored, ATOLL_CLUSTER_KEY: "6".repeat(64) })).rejects.toThrow(/key/i);
    return undefined;
  });
});
