import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { runCommand } from "../../../support/run-command.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";

await withDatabase(describeCommands);

function describeCommands(database: PostgresDatabase): void {
  beforeEach(async () => {
    await database.empty();
    vi.stubEnv("ATOLL_CLUSTER_KEY", randomBytes(32).toString("hex"));
  });
  afterEach(() => vi.unstubAllEnvs());

  const run = (...args: string[]) => runCommand(...args, "--store", database.address);
  const createAccount = () => run("account", "create", "--email", "a@example.com", "--password", "correct horse");

  describe("commands with --store", () => {
    it("change accounts, keys, credits and ledger in the database", async () => {
      expect(await createAccount()).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^user_\w+\n$/),
        stderr: "",
      });
      expect((await run("key", "create", "--email", "a@example.com")).stdout).toMatch(/^ak_\w{40}\n$/);
      expect((await run("credits", "grant", "--email", "a@example.com", "--credits", "5")).code).toBe(0);
      expect((await run("ledger", "verify")).stdout).toBe("4 entries: the ledger is balanced\n");
      expect(await run("check")).toMatchObject({ code: 0, stdout: "The database is intact\n" });
    });

    it("report faults of the ledger and a wrong cluster key (check)", async () => {
      await createAccount();
      expect((await run("signing-key", "rotate", "--yes")).code).toBe(0);
      const shown = await run("signing-key", "show");
      expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^SHA256:/) });
      await database.server.query("UPDATE balances SET micro = micro + 1 WHERE party = 'network'", "test");
      vi.stubEnv("ATOLL_CLUSTER_KEY", randomBytes(32).toString("base64"));
      const { code, stdout } = await run("check", "--json");
      expect([code, JSON.parse(stdout)]).toEqual([
        1,
        {
          whole: false,
          faults: [
            expect.stringMatching(/^The secret signing of the database: is encrypted with another cluster_key/),
            expect.stringMatching(/^network: the balance is -?\d+ micro-credits, but the sum of its entries is/),
          ],
        },
      ]);
      expect(await run("signing-key", "show")).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^The secret signing of the database: is encrypted with another cluster_key[^\n]*\n$/,
        ),
      });
    });

    it("read the password from the address or from PGPASSWORD, and report a missing one", async () => {
      const { server } = database;
      const file = String(Object.values((await server.query("SHOW hba_file")).rows[0] as object)[0]);
      const rules = await readFile(file, "utf8");
      await writeFile(file, `host all guarded 127.0.0.1/32 scram-sha-256\n${rules}`);
      await server.query("CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'secret'; SELECT pg_reload_conf()");
      const address = (user: string) => server.addressOf("test").replace("atoll@", `${user}@`);
      const check = (user: string) => runCommand("check", "--store", address(user));
      await expect
        .poll(async () => (await check("guarded")).stderr)
        .toMatch(/^postgres:\S+: requires a password; set it in store or in the variable PGPASSWORD\n$/);
      expect(await check("guarded:secret")).toMatchObject({ code: 0 });
      vi.stubEnv("PGPASSWORD", "secret");
      expect(await check("guarded")).toMatchObject({ code: 0 });
      await server.query("DROP ROLE guarded");
    });

    it("refuse an empty or missing database, --data, and commands for SQLite", async () => {
      const elsewhere = (name: string) => runCommand("key", "list", "--email", "a@b", "--store", at(name));
      const at = (name: string) => database.server.addressOf(name).replace("atoll@", "atoll:secret@");
      expect((await elsewhere("postgres")).stderr).toMatch(/^The database has no coordinator data\. Check --store/);
      const none = await elsewhere("none");
      expect(none).toMatchObject({ code: 1, stderr: expect.stringMatching(/^postgres:.*"none" does not exist\n$/) });
      expect(none.stderr).not.toContain("secret");
      expect((await run("check", "--data", "/tmp/x")).stderr).toMatch(/^--data and store are mutually exclusive/);
      expect((await run("vacuum")).stderr).toMatch(/^vacuum requires a data directory/);
      vi.stubEnv("ATOLL_CLUSTER_KEY", "");
      expect((await run("ledger", "verify")).stderr).toMatch(/^cluster_key: required with store/);
    });
  });
}
