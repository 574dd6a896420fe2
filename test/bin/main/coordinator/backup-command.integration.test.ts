import { cpSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openSqliteStore } from "../../../../coordinator/store/sqlite/sqlite-store.ts";
import { makeAccount, temporaryFolder } from "../../../coordinator/store/contract/store-builders.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { runCommand } from "../../../support/run-command.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder[Symbol.dispose]());

it("coordinator backup copies a data directory in use to a new, complete data directory", async () => {
  const data = folder.file("data");
  const copy = folder.file("copy");
  const made = await runCommand(
    "account",
    "create",
    "--email",
    "ann@example.com",
    "--password",
    "correct horse",
    "--data",
    data,
  );
  expect(made.code).toBe(0);
  const key = await runCommand("signing-key", "rotate", "--yes", "--data", data);
  const store = await openSqliteStore({ path: `${data}/atoll.db`, clock: new ManualClock() });
  try {
    await makeAccount(store, { email: "before@example.com" });
    expect(await runCommand("backup", copy, "--data", data)).toMatchObject({ code: 0 });
    await makeAccount(store, { email: "after@example.com" });
  } finally {
    await store.close();
  }
  expect(readdirSync(copy).toSorted()).toEqual(expect.arrayContaining(["atoll.db", "signing.key"]));
  expect([statSync(copy).mode & 0o777, statSync(`${copy}/atoll.db`).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(readFileSync(`${copy}/signing.key`)).toEqual(readFileSync(`${data}/signing.key`));
  const restored = folder.file("restored");
  cpSync(copy, restored, { recursive: true });
  expect(key.stdout).toContain((await runCommand("signing-key", "show", "--data", restored)).stdout.trim());
  expect(await runCommand("ledger", "verify", "--data", restored)).toMatchObject({ code: 0 });
  const creditsOf = (email: string) =>
    runCommand("credits", "grant", "--credits", "1", "--email", email, "--data", restored);
  expect((await creditsOf("before@example.com")).stdout).toContain("has 11 credits");
  expect((await creditsOf("after@example.com")).code).toBe(1);
});

it("coordinator backup lists the files of imported Cargos, which it does not copy", async () => {
  const data = folder.file("data");
  const copy = folder.file("copy");
  await runCommand("account", "create", "--email", "ann@example.com", "--password", "correct horse", "--data", data);
  expect((await runCommand("backup", folder.file("without"), "--data", data)).stdout).not.toContain("Not copied");
  mkdirSync(`${data}/models`);
  expect((await runCommand("backup", copy, "--data", data)).stdout).toContain(
    `Not copied: ${data}/models, the files of imported Cargos. Copy them with: cp -a ${data}/models ${copy}`,
  );
});

it("coordinator backup names the directory of accounts' files, which it does not copy", async () => {
  const data = folder.file("data");
  const copy = folder.file("copy");
  await runCommand("account", "create", "--email", "ann@example.com", "--password", "correct horse", "--data", data);
  mkdirSync(`${data}/files`);
  expect((await runCommand("backup", copy, "--data", data)).stdout).toContain(
    `Not copied: ${data}/files, the contents of accounts' files. Copy them with: cp -a ${data}/files ${copy}`,
  );
  const shared = folder.file("shared");
  mkdirSync(shared);
  const settings = folder.file("atoll.toml");
  writeFileSync(settings, `data_directory = "${data}"\nfiles_dir = "${shared}"\n`);
  const { stdout } = await runCommand("backup", folder.file("second"), "--config", settings);
  expect(stdout).toContain(`Not copied: ${shared}, the contents of accounts' files. Back up this directory`);
  const { stdout: json } = await runCommand("backup", folder.file("third"), "--config", settings, "--json");
  expect(JSON.parse(json)).toMatchObject({ left_out: [shared] });
});

it("coordinator backup refuses to overwrite files, and reports missing data", async () => {
  const data = folder.file("data");
  await runCommand("account", "create", "--email", "ann@example.com", "--password", "correct horse", "--data", data);
  expect((await runCommand("backup", data, "--data", data)).stderr).toContain("already exists");
  const missing = await runCommand("backup", folder.file("copy"), "--data", folder.file("nowhere"));
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("No coordinator data in") });
  const remote = await runCommand("backup", folder.file("copy"), "--store", "postgres://127.0.0.1:1/atoll");
  expect(remote.stderr).toMatch(/pg_dump|cluster_key/);
});
