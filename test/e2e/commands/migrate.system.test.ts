import { writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../../coordinator/store/open-store.ts";
import { makeAccount, makeJob, runJob, temporaryFolder } from "../../coordinator/store/contract/store-builders.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { PostgresServer } from "../../support/servers/postgres-server.ts";
import { expectRefusal } from "../../support/refusal.ts";
import { runCommand } from "../../support/run-command.ts";

const server = await PostgresServer.start();
afterAll(() => server[Symbol.asyncDispose]());
const KEY = "ab".repeat(32);
let folder: ReturnType<typeof temporaryFolder>;
let config: string;
beforeEach(async () => {
  folder = temporaryFolder();
  config = folder.file("atoll.toml");
  await writeFile(config, `cluster_key = "${KEY}"\n`);
});
afterEach(() => folder[Symbol.dispose]());

const migrate = (...args: string[]) => runCommand("migrate", ...args, "--config", config);

/** A data directory with an account and a running job. */
async function makeData(name: string): Promise<string> {
  const store = await openStore(folder.file(name), new ManualClock());
  await runJob(store, makeJob(await makeAccount(store)));
  await store.close();
  return folder.file(name);
}

describe("coordinator migrate", () => {
  it("moves all data to PostgreSQL and back", async () => {
    const [here, there, back] = [await makeData("here"), await server.createDatabase("moved"), folder.file("back")];
    // The setting `store` is the other endpoint.
    await writeFile(config, `cluster_key = "${KEY}"\nstore = "${there}"\n`);
    const moved = await migrate("--from", `sqlite:${here}`, "--json");
    expect({ ...moved, stderr: "" }).toMatchObject({ code: 0 });
    const { rows, ledger_entries: entries } = JSON.parse(moved.stdout) as { rows: object; ledger_entries: number };
    expect({ rows, entries }).toEqual({
      rows: { accounts: 1, jobs: 1, job_inputs: 1, balances: 3, entries: 4 },
      entries: 4,
    });
    const ledger = ["ledger", "verify", "--json"] as const;
    expectRefusal(
      await runCommand("ledger", "verify", "--data", here),
      /the data was moved to postgres:.*Use that database/,
    );
    const verified = await runCommand(...ledger, "--store", there, "--config", config);
    expect(JSON.parse(verified.stdout)).toMatchObject({ balanced: true, entries: 4 });

    const returned = await migrate("--to", `sqlite:${back}`);
    expect(returned.stdout).toMatch(
      /^Moved 10 rows and the keys, and verified the rows.* run the coordinator with .*back\n$/,
    );
    expect(returned.stderr).toContain("jobs: 1 rows copied\n");
    expect(JSON.parse((await runCommand(...ledger, "--data", back)).stdout)).toMatchObject({ balanced: true });
    expect((await migrate("--from", there, "--abandon")).stdout).toMatch(/can be used again. Delete the copied data/);
    expect((await runCommand(...ledger, "--store", there, "--config", config)).code).toBe(0);
  });
});
