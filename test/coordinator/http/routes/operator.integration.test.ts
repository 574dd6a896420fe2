import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Identity } from "../../../../coordinator/accounts/identity.ts";
import { hashSecret, newSecret } from "../../../../coordinator/accounts/secrets.ts";
import { newId } from "../../../../shared/ids.ts";
import { currentDocument } from "../../../support/http/openapi.ts";
import { Api, type ApiResponse } from "../api.ts";

let api: Api;
let operator = "";
let operatorId = "";
/** A user's session, and keys of a user and of the operator. */
let refused: readonly string[] = [];
beforeAll(async () => {
  api = await Api.open();
  operatorId = await makeAccount("op");
  operator = await sessionOf(operatorId);
  await api.store.operators.setRole(operatorId, "operator");
  refused = [await sessionOf(api.accountId), api.key, (await api.accounts.createKey(operatorId)).secret];
});
afterAll(() => api[Symbol.asyncDispose]());

async function makeAccount(name: string): Promise<string> {
  const createdAtMs = api.clock.now();
  const id = newId("user", createdAtMs);
  await api.store.accounts.create({
    id,
    email: `${name}-${id}@example.com`,
    passwordHash: "",
    postings: [],
    createdAtMs,
  });
  return id;
}

async function sessionOf(accountId: string): Promise<string> {
  const token = newSecret("st");
  const times = { createdAtMs: api.clock.now(), expiresAtMs: api.clock.now() + 1_000_000 };
  await api.store.accounts.createSession({ tokenHash: hashSecret(token), accountId, ...times }, 5);
  return token;
}

const ask = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  api.call(method, `/operator${path}`, { key: operator, body });
const codeOf = ({ status, body }: ApiResponse): unknown[] => [status, body.error?.code];

describe("/operator", () => {
  const routes = Object.entries(currentDocument().paths)
    .filter(([path]) => path.startsWith("/api/v1/operator/"))
    .flatMap(([path, item]) =>
      Object.keys(item).map((method) => [method.toUpperCase(), path.slice("/api/v1".length)] as const),
    );

  it.each(routes)("allows %s %s only with an operator's session", async (method, path) => {
    for (const key of refused) {
      expect(codeOf(await api.call(method, path, { key }))).toEqual([403, "operator_only"]);
    }
    expect(codeOf(await api.call(method, path, { key: null }))).toEqual([401, "unauthenticated"]);
  });

  it("allows an operator all its operations, and none once the role is removed", async () => {
    const id = await makeAccount("former");
    const key = await sessionOf(id);
    await api.store.operators.setRole(id, "operator");
    expect((await api.call("GET", "/account", { key })).body.data).toMatchObject({ role: "operator" });
    expect((await api.call("GET", "/operator/overview", { key })).status).toBe(200);
    const identity = (await api.accounts.authenticate(key)) as Identity;
    expect(await api.accounts.isStillValid(identity)).toBe(true);
    await api.store.operators.setRole(id, "user");
    // Open streams end, because they may show data of operators.
    expect(await api.accounts.isStillValid(identity)).toBe(false);
    // If there are several coordinators, the one that sets the role notifies the others.
    await api.setLimits({}, id);
    expect((await api.call("GET", "/operator/overview", { key })).status).toBe(403);
  });

  it("finds accounts, and shows them with their limits", async () => {
    const id = await makeAccount("findme");
    const { body } = await ask("GET", "/accounts?search=FINDME");
    expect(body).toMatchObject({ data: [{ id, role: "user", credits: 0, suspended: null }], meta: { total: 1 } });
    expect((await ask("GET", `/accounts/${id}`)).body.data).toMatchObject({ id, limits: { concurrent_jobs: 10 } });
    expect(codeOf(await ask("GET", "/accounts/user_none"))).toEqual([404, "not_found"]);
    expect(codeOf(await ask("GET", "/accounts?role=king"))).toEqual([422, "validation_failed"]);
  });

  it("logs limits and grants with their earlier values", async () => {
    const id = await makeAccount("rich");
    const { body } = await ask("PATCH", `/accounts/${id}/limits`, { concurrent_jobs: 3 });
    expect(body.data).toMatchObject({ concurrent_jobs: 3, share: 100 });
    expect((await ask("PATCH", `/accounts/${id}/limits`, { concurrent_jobs: null })).body.data.concurrent_jobs).toBe(
      10,
    );
    expect(codeOf(await ask("PATCH", `/accounts/${id}/limits`, { share: 0 }))).toEqual([422, "validation_failed"]);
    expect((await ask("POST", `/accounts/${id}/grants`, { credits: 2.5 })).body).toEqual({
      data: { id, credits: 2.5 },
    });
    expect(codeOf(await ask("POST", `/accounts/${id}/grants`, { credits: -1 }))).toEqual([422, "validation_failed"]);
    expect(codeOf(await ask("POST", "/accounts/user_none/grants", { credits: 1 }))).toEqual([404, "not_found"]);
    const { data } = (await ask("GET", `/audit?target=${id}`)).body;
    expect(data).toMatchObject([
      { action: "account.grant", before: { balanceMicro: 0 }, after: { grantMicro: 2_500_000 } },
      { action: "account.limits.failed", after: { code: "validation_failed", tried: { share: 0 } } },
      { action: "account.limits", before: { concurrentJobs: 3 }, after: { concurrentJobs: null } },
      { action: "account.limits", before: { concurrentJobs: null }, after: { concurrentJobs: 3 } },
    ]);
    for (const line of data) {
      expect(line).toMatchObject({ via: "api", actor: operatorId, target: { kind: "account", id } });
      expect(line.actor_email).toMatch(/^op-/);
      expect(line.origin).toMatch(/127\.0\.0\.1|::1/);
    }
  });

  it("refuses a suspended account with 403 account_suspended, for session and key, until it is reinstated", async () => {
    const id = await makeAccount("spammer");
    const session = await sessionOf(id);
    const { secret } = await api.accounts.createKey(id);
    const reason = "Sends <b>spam</b>";
    const { body } = await ask("POST", `/accounts/${id}/suspension`, { reason });
    expect(body.data.suspended).toMatchObject({ reason });
    for (const key of [session, secret]) {
      const response = await api.call("GET", "/account", { key });
      expect(codeOf(response)).toEqual([403, "account_suspended"]);
      expect(response.body.error.message).toContain(reason);
    }
    const { secret: token } = await api.accounts.islandTokens.create(id);
    await expect(api.accounts.authenticateIsland(token)).rejects.toMatchObject({ code: "account_suspended" });
    expect((await ask("GET", "/accounts?suspended=true&search=spammer")).body.meta.total).toBe(1);
    expect((await ask("POST", `/accounts/${id}/suspension`, { reason: "again" })).body.data.suspended).toMatchObject({
      reason,
    });
    expect((await ask("DELETE", `/accounts/${id}/suspension`)).body.data.suspended).toBeNull();
    expect((await api.call("GET", "/account", { key: secret })).status).toBe(200);
    const actions = (await ask("GET", `/audit?target=${id}`)).body.data.map((line: { action: string }) => line.action);
    expect(actions).toEqual(["account.reinstate", "account.suspend"]);
  });

  it("suspends no operator, and requires a reason of one line", async () => {
    expect(codeOf(await ask("POST", `/accounts/${operatorId}/suspension`, { reason: "x" }))).toEqual([
      400,
      "bad_request",
    ]);
    for (const reason of ["", " ", "two\nlines", "x".repeat(501)]) {
      const response = await ask("POST", `/accounts/${api.accountId}/suspension`, { reason });
      expect(codeOf(response)).toEqual([422, "validation_failed"]);
    }
  });

  it("lists, shows and suspends Islands of all accounts", async () => {
    const [id, hostId] = [await makeAccount("host"), randomUUID()];
    const report = {
      agentVersion: "1",
      hostName: "attic",
      hardware: HARDWARE,
      runtimes: [],
      lastSeenAtMs: api.clock.now(),
    };
    await api.store.islands.save({ hostId, accountId: id, ...report }, 0);
    const { body } = await ask("GET", `/islands?account=${id}`);
    expect(body).toMatchObject({
      data: [{ id: hostId, name: "attic", account_id: id, status: "offline" }],
      meta: { total: 1 },
    });
    expect((await ask("GET", `/islands/${hostId}`)).body.data).toMatchObject({
      id: hostId,
      earned: { today: 0 },
      account_id: id,
    });
    expect((await ask("POST", `/islands/${hostId}/suspension`, { reason: "lies" })).body.data).toEqual({
      id: hostId,
      suspended: true,
    });
    expect((await ask("GET", "/islands?status=suspended&search=att")).body).toMatchObject({
      data: [{ id: hostId, status: "suspended", suspended_because: "the operator suspended this Island: lies" }],
    });
    expect((await ask("DELETE", `/islands/${hostId}/suspension`)).body.data).toEqual({ id: hostId, suspended: false });
    expect(codeOf(await ask("DELETE", `/islands/${hostId}/suspension`))).toEqual([404, "not_found"]);
    expect(codeOf(await ask("POST", "/islands/nobody/suspension", { reason: "x" }))).toEqual([404, "not_found"]);
  });

  it("lists settings without secrets", async () => {
    const { text, body } = await ask("GET", "/settings");
    expect(text).not.toContain("very-secret");
    const metrics = body.data.find(({ key }: { key: string }) => key === "metrics_token");
    expect(metrics).toMatchObject({ value: "(hidden)", source: "environment" });
  });

  it("publishes announcements until they expire or are removed", async () => {
    const until = new Date(api.clock.now() + 60_000).toISOString();
    const { body } = await ask("POST", "/announcements", { text: "Maintenance", until });
    expect(body.data).toMatchObject({ level: "info", text: "Maintenance", until });
    const last = (await ask("POST", "/announcements", { text: "Forever", level: "warning" })).body.data;
    api.clock.advance(1_000);
    const shown = async () =>
      (await api.call("GET", "/announcements", { key: null })).body.data.map((a: { text: string }) => a.text);
    expect(await shown()).toEqual(["Forever", "Maintenance"]);
    api.clock.advance(60_000);
    expect(await shown()).toEqual(["Forever"]);
    expect((await ask("DELETE", `/announcements/${last.id}`)).body.data).toEqual({ id: last.id, removed: true });
    expect(codeOf(await ask("DELETE", `/announcements/${last.id}`))).toEqual([404, "not_found"]);
    expect(codeOf(await ask("POST", "/announcements", { text: "Late", until: "2020-01-01T00:00:00.000Z" }))).toEqual([
      422,
      "validation_failed",
    ]);
  });

  it("approves a Cargo exactly as it was reviewed", async () => {
    const fields = {
      slug: "op-words",
      name: "Words",
      description: "Counts words",
      category: "utility",
      runtime_type: "container",
      licence: "MIT",
      price_per_job: 0.1,
      required_ram_mb: 64,
      required_vram_mb: 0,
      example_input: {},
      input_schema: { type: "object" },
      container: {
        image: "docker.io/ada/words:1",
        digest: `sha256:${"ab".repeat(32)}`,
        command: ["words"],
        network: true,
        gpu: false,
      },
    };
    const made = await api.call("POST", "/cargos", { body: fields });
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    const { body: waiting } = await ask("GET", "/cargos?status=waiting");
    expect(waiting.data).toMatchObject([{ slug: "op-words", owner_id: api.accountId, pinned: true }]);
    const { data: review } = (await ask("POST", "/cargos/op-words/review", {})).body;
    expect(review).toMatchObject({
      status: "waiting",
      approval: null,
      pin: { kind: "image_digest", value: fields.container.digest },
      signs: {
        image: fields.container.image,
        image_digest: fields.container.digest,
        network: true,
        gpu: false,
        model_url: null,
      },
      cargo: { container: fields.container },
    });
    const { revision } = review;
    await api.call("PATCH", "/cargos/op-words", { body: { description: "Something else" } });
    expect(codeOf(await ask("POST", "/cargos/op-words/approval", { revision }))).toEqual([400, "bad_request"]);
    const { revision: now } = (await ask("GET", "/cargos/op-words")).body.data;
    expect((await ask("POST", "/cargos/op-words/approval", { revision: now })).body.data).toMatchObject({
      revision: now,
    });
    expect((await ask("GET", "/cargos/op-words")).body.data).toMatchObject({
      status: "offered",
      approval: { revision: now, by: operatorId },
    });
    expect((await ask("POST", "/cargos/op-words/disabled")).body.data).toEqual({ slug: "op-words", disabled: true });
    expect((await ask("GET", "/cargos?status=disabled")).body.data).toMatchObject([{ slug: "op-words" }]);
    expect((await ask("DELETE", "/cargos/op-words/disabled")).body.data).toEqual({ slug: "op-words", disabled: false });
    const lines = (await ask("GET", "/audit?target=op-words")).body.data as { action: string }[];
    expect(lines.map(({ action }) => action)).toEqual(["cargo.enable", "cargo.disable", "cargo.approve"]);
    expect(lines[2]).toMatchObject({
      before: { status: "waiting" },
      after: { revision: now, container: fields.container },
    });
    expect(codeOf(await ask("GET", "/cargos/none"))).toEqual([404, "cargo_not_found"]);
  });
});

const HARDWARE = {
  platform: "linux",
  arch: "x64",
  osName: null,
  cpuModel: null,
  logicalCores: 2,
  physicalCores: null,
  ramBytes: 2 ** 30,
  gpus: [],
  diskFreeBytes: null,
  diskBudgetBytes: 2 ** 30,
};
