import { afterAll, beforeAll, expect, it } from "vitest";
import { lockForServing } from "../../../coordinator/store/sqlite/engine/serve-lock.ts";
import { call } from "../../support/http/http.ts";
import { Program } from "../../support/program.ts";
import { expectRefusal } from "../../support/refusal.ts";
import { runCommand } from "../../support/run-command.ts";
import { IS_POSTGRES, STORE_ENV } from "../../support/store/test-store.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
beforeAll(async () => {
  coordinator = await TestCoordinator.open();
  await coordinator.createAccount("ann@example.com", 2);
});
afterAll(() => coordinator[Symbol.asyncDispose]());

const run = (...args: string[]) =>
  new Program("coordinator", [...args, ...coordinator.locationFlags], STORE_ENV).ended();

it("account reset-password creates a one-time token with which the owner sets a password", async () => {
  const { code, stdout } = await runCommand(
    ...["account", "reset-password", "--email", "ann@example.com", "--json"],
    ...coordinator.locationFlags,
  );
  const { token } = JSON.parse(stdout) as { token: string };
  expect([code, token]).toEqual([0, expect.stringMatching(/^pr_/)]);
  const post = (path: string, body: object) => call(coordinator.url, null, "POST", path, body);
  const reset = () => post("/auth/password/reset", { token, new: "battery staple" });
  expect((await reset()).body).toEqual({ data: { password_changed: true } });
  expect((await reset()).body.error).toMatchObject({ code: "bad_request", message: expect.stringContaining("used") });
  expect((await post("/auth/login", { email: "ann@example.com", password: "battery staple" })).status).toBe(200);
  const forgot = await post("/auth/password/forgot", { email: "ann@example.com" });
  expect([forgot.status, forgot.body.error.message]).toEqual([403, expect.stringContaining("ask its operator")]);
});

it("POST /account/password needs a session", async () => {
  const { key } = await coordinator.createAccount("bob@example.com");
  const body = { current: "correct horse", new: "battery staple" };
  const withKey = await call(coordinator.url, key, "POST", "/account/password", body);
  expect([withKey.status, withKey.body.error.code]).toEqual([400, "bad_request"]);
  const credentials = { email: "bob@example.com", password: "correct horse" };
  const { token } = (await call(coordinator.url, null, "POST", "/auth/login", credentials)).body.data;
  const changed = await call(coordinator.url, token, "POST", "/account/password", body);
  expect([changed.status, changed.body]).toEqual([200, { data: { password_changed: true } }]);
});

it.skipIf(IS_POSTGRES)(
  "vacuum refuses while a coordinator serves, and rewrites the database when it has stopped",
  async () => {
    const lock = lockForServing(coordinator.directory);
    expectRefusal(
      await run("vacuum"),
      `${coordinator.directory}: another coordinator uses this data directory. Stop it first, or use another directory`,
    );
    lock.release();
    await coordinator.stop();
    const { code, stdout } = await run("vacuum", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { before_bytes: expect.any(Number), after_bytes: expect.any(Number) },
    ]);
    await coordinator.start();
  },
);
