import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { runCommand } from "../../support/run-command.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
beforeAll(async () => {
  coordinator = await TestCoordinator.open();
});
afterAll(() => coordinator[Symbol.asyncDispose]());

const HOSTILE_NAME = "attic\u009B2J\u202E";

/** Runs a command on the data of the running coordinator. */
const run = (...args: string[]) => runCommand(...args, ...coordinator.locationFlags);
const runJson = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);

describe("operator commands", () => {
  it("suspend an Island and its account on a running coordinator, and show the stored state", async () => {
    const { id, key, islandToken } = await coordinator.createAccount("ann@example.com");
    const hostId = randomUUID();
    const island = await FakeIsland.join(coordinator.url, islandToken, { hostId, hostName: HOSTILE_NAME });
    const { body: job } = await call(coordinator.url, key, "POST", "/jobs", {
      workload: "base64",
      input: { data: "hi" },
    });
    expect(await runJson("island", "list", "--search", "att")).toMatchObject({
      islands: [{ id: hostId, name: HOSTILE_NAME, status: "online", account_email: "ann@example.com" }],
      total: 1,
    });
    const listed = await run("island", "list");
    expect(listed.stdout).toMatch(/^ISLAND +STATUS +NAME .*\n\S+ +online +attic/);
    // oxlint-disable-next-line no-control-regex -- What a terminal would obey.
    expect(listed.stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
    expect(await runJson("status")).toMatchObject({
      islands: { online: 1, known: 1 },
      jobs: { running: 0, waiting: 1 },
      waiting: [{ workload_slug: "base64", jobs: 1, reason: "no_island_offers_runtime" }],
    });
    expect(await run("island", "suspend", hostId, "--reason", "lies")).toMatchObject({ code: 0, stderr: "" });
    expect(await island.next("goodbye")).toMatchObject({ reason: "the operator suspended this Island: lies" });
    await run("account", "suspend", "--email", "ann@example.com", "--reason", "spam");
    await until(
      () => call(coordinator.url, key, "GET", "/account"),
      ({ body }) => body.error?.code === "account_suspended",
      "refused",
    );
    expect(await runJson("account", "show", "--email", "ann@example.com")).toMatchObject({
      id,
      suspended: { reason: "spam" },
      latest_islands: [{ id: hostId, status: "suspended" }],
      latest_jobs: [{ id: job.data.id }],
    });
    const { lines } = await runJson("audit");
    expect(lines).toMatchObject([
      { action: "account.suspend", target: { kind: "account", id }, via: "command", actor: userInfo().username },
      { action: "island.suspend", target: { kind: "island", id: hostId }, after: { because: "lies" } },
    ]);
  });

  it("set and list standings", async () => {
    const { id } = await coordinator.createAccount("dan@example.com");
    const set = (...args: string[]) =>
      run("standing", "set", "--email", "dan@example.com", "--reason", "known", "--cargo", ...args);
    expect(await set("tiny-chat", "--state", "trusted")).toMatchObject({
      code: 0,
      stdout: "dan@example.com is trusted with tiny-chat\n",
    });
    const [refused, unknown] = [await set("none", "--state", "new"), await set("tiny-chat", "--state", "good")];
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('There is no Cargo "none"')]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("quarantined")]);
    const line = { account_id: id, account_email: "dan@example.com", cargo: "tiny-chat", state: "trusted" };
    expect(await runJson("standing", "list", "--email", "dan@example.com")).toMatchObject({
      standings: [{ ...line, reason: "known" }],
      total: 1,
    });
    expect((await run("standing", "list", "--state", "trusted")).stdout).toMatch(/^STATE +E-MAIL .*\ntrusted +dan@/);
    expect((await runJson("audit")).lines[0]).toMatchObject({ action: "account.standing", target: { id } });
  });

  it("print JSON and readable text", async () => {
    await coordinator.createAccount("bob@example.com");
    expect(await runJson("account", "role", "--email", "bob@example.com", "--operator")).toMatchObject({
      role: "operator",
    });
    expect((await run("account", "role", "--email", "bob@example.com")).stdout).toBe(
      "bob@example.com is an operator\n",
    );
    const refused = await run("account", "suspend", "--email", "bob@example.com", "--reason", "x");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("First remove the role")]);
    expect((await runJson("account", "list", "--operators")).accounts).toMatchObject([{ email: "bob@example.com" }]);
    const { id } = await runJson("announcement", "add", "--text", "Maintenance", "--warning");
    expect((await call(coordinator.url, null, "GET", "/announcements")).body.data).toMatchObject([
      { id, level: "warning" },
    ]);
    for (const [args, text] of [
      [["status"], /Islands +\d+ seen/],
      [["queue"], /^/],
      [["account", "list"], /bob@example\.com/],
      [["island", "list"], /^/],
      [["job", "list"], /^/],
      [["audit"], /account\.role/],
      [["announcement", "list"], /warning +Maintenance/],
      [["announcement", "remove", id as string], /Removed/],
      [["account", "role", "--email", "bob@example.com", "--user"], /is a user/],
    ] as const) {
      const { code, stdout, stderr } = await run(...args);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(text);
    }
    const wrong = await run("job", "list", "--status", "odd");
    expect([wrong.code, wrong.stderr.split("\n").length]).toEqual([2, 2]);
  });
});
