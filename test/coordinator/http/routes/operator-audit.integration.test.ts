import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashSecret, newSecret } from "../../../../coordinator/accounts/secrets.ts";
import { newId } from "../../../../shared/ids.ts";
import { currentDocument } from "../../../support/http/openapi.ts";
import { makeTinyGguf } from "../../../support/models/tiny-gguf.ts";
import { HubServer } from "../../../support/servers/hub-server.ts";
import { Api, type ApiResponse } from "../api.ts";

let api: Api;
let operator = "";
beforeAll(async () => {
  api = await Api.open();
  const id = await makeAccount();
  operator = await sessionOf(id);
  await api.store.operators.setRole(id, "operator");
});
afterAll(() => api[Symbol.asyncDispose]());

async function makeAccount(): Promise<string> {
  const createdAtMs = api.clock.now();
  const id = newId("user", createdAtMs);
  await api.store.accounts.create({ id, email: `${id}@example.com`, passwordHash: "", postings: [], createdAtMs });
  return id;
}

async function sessionOf(accountId: string): Promise<string> {
  const token = newSecret("st");
  const times = { createdAtMs: api.clock.now(), expiresAtMs: api.clock.now() + 1_000_000 };
  await api.store.accounts.createSession({ tokenHash: hashSecret(token), accountId, ...times }, 5);
  return token;
}

async function makeIsland(): Promise<string> {
  const [hostId, accountId] = [randomUUID(), await makeAccount()];
  const report = { agentVersion: "1", hostName: "attic", hardware: { ramBytes: 0, gpus: [] } as never, runtimes: [] };
  await api.store.islands.save({ hostId, accountId, ...report, lastSeenAtMs: api.clock.now() }, 0);
  return hostId;
}

async function makeCargo(): Promise<string> {
  const slug = `cargo-${randomUUID().slice(0, 8)}`;
  const container = { image: "docker.io/ada/words:1", digest: `sha256:${"ab".repeat(32)}`, command: ["words"] };
  const texts = { name: "Words", description: "Counts words", category: "utility", licence: "MIT" };
  const sizes = { price_per_job: 0.1, required_ram_mb: 64, required_vram_mb: 0 };
  const runs = {
    runtime_type: "container",
    container: { ...container, network: false, gpu: false },
    example_input: {},
    input_schema: { type: "object" },
  };
  const made = await api.call("POST", "/cargos", { body: { slug, ...texts, ...sizes, ...runs } });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  return slug;
}

const ask = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse> => api.call(method, `/operator${path}`, { key: operator, body, headers });
const linesOf = async (target: string) =>
  (await ask("GET", `/audit?target=${target}`)).body.data as { action: string; after: Record<string, unknown> }[];

/** A call of each operation that changes something, with its target and its audit entry. */
const DEEDS: Record<string, () => Promise<{ target: string; actions: readonly string[] }>> = {
  setAccountLimits: async () => {
    const target = await makeAccount();
    await done(ask("PATCH", `/accounts/${target}/limits`, { share: 3 }));
    return { target, actions: ["account.limits"] };
  },
  grantCredits: async () => {
    const target = await makeAccount();
    await done(ask("POST", `/accounts/${target}/grants`, { credits: 3 }));
    return { target, actions: ["account.grant"] };
  },
  suspendAccount: async () => {
    const target = await makeAccount();
    for (const reason of ["spam", "again"]) await done(ask("POST", `/accounts/${target}/suspension`, { reason }));
    return { target, actions: ["account.suspend"] };
  },
  reinstateAccount: async () => {
    const target = await makeAccount();
    await done(ask("POST", `/accounts/${target}/suspension`, { reason: "spam" }));
    for (let tries = 0; tries < 2; tries += 1) await done(ask("DELETE", `/accounts/${target}/suspension`));
    return { target, actions: ["account.reinstate", "account.suspend"] };
  },
  suspendIsland: async () => {
    const target = await makeIsland();
    for (const reason of ["lies", "again"]) await done(ask("POST", `/islands/${target}/suspension`, { reason }));
    return { target, actions: ["island.suspend"] };
  },
  reinstateIsland: async () => {
    const target = await makeIsland();
    await done(ask("POST", `/islands/${target}/suspension`, { reason: "lies" }));
    await done(ask("DELETE", `/islands/${target}/suspension`));
    return { target, actions: ["island.reinstate", "island.suspend"] };
  },
  addModel: async () => {
    await using hub = await HubServer.start();
    hub.hasCdn = false;
    hub.put("maker/audited", { "audited.gguf": makeTinyGguf() });
    api.hubUrl = hub.url;
    for (const dry_run of [true, false]) await done(ask("POST", "/cargos", { source: "hf.co/maker/audited", dry_run }));
    return { target: "audited", actions: ["cargo.import"] };
  },
  approveCargo: async () => {
    const target = await makeCargo();
    const { revision } = (await done(ask("POST", `/cargos/${target}/review`, {}))).body.data;
    await done(ask("POST", `/cargos/${target}/approval`, { revision }));
    return { target, actions: ["cargo.approve"] };
  },
  setCargoPrice: async () => {
    const target = "shipped-chat";
    for (const price of [0.5, 0.5, null]) await done(ask("PATCH", `/cargos/${target}`, { price_per_job: price }));
    return { target, actions: ["cargo.price", "cargo.price"] };
  },
  disableCargo: async () => {
    const target = await makeCargo();
    for (let tries = 0; tries < 2; tries += 1) await done(ask("POST", `/cargos/${target}/disabled`));
    return { target, actions: ["cargo.disable"] };
  },
  enableCargo: async () => {
    const target = await makeCargo();
    await done(ask("POST", `/cargos/${target}/disabled`));
    for (let tries = 0; tries < 2; tries += 1) await done(ask("DELETE", `/cargos/${target}/disabled`));
    return { target, actions: ["cargo.enable", "cargo.disable"] };
  },
  setStanding: async () => {
    const target = await makeAccount();
    await done(ask("PUT", `/standings/${target}/shipped-chat`, { state: "trusted", reason: "known in person" }));
    return { target, actions: ["account.standing"] };
  },
  addAnnouncement: async () => {
    const { id } = (await done(ask("POST", "/announcements", { text: "Maintenance" }))).body.data;
    return { target: id, actions: ["announcement.add"] };
  },
  removeAnnouncement: async () => {
    const { id } = (await done(ask("POST", "/announcements", { text: "Maintenance" }))).body.data;
    await done(ask("DELETE", `/announcements/${id}`));
    return { target: id, actions: ["announcement.remove", "announcement.add"] };
  },
};

async function done(asked: Promise<ApiResponse>): Promise<ApiResponse> {
  const response = await asked;
  expect([response.status < 300, response.body.error]).toEqual([true, undefined]);
  return response;
}

describe("the audit log", () => {
  /** A repeated call changes nothing. */
  const READS = ["reviewCargo"];
  /** These need jobs: `test/coordinator/audits/audits.integration.test.ts` tests them. */
  const WITH_JOBS = ["auditJob", "auditIsland"];
  const operations = Object.entries(currentDocument().paths)
    .filter(([path]) => path.startsWith("/api/v1/operator/"))
    .flatMap(([, item]) => Object.entries(item as Record<string, { operationId: string }>))
    .filter(([method, { operationId }]) => method !== "get" && ![...READS, ...WITH_JOBS].includes(operationId))
    .map(([, { operationId }]) => operationId);

  it("covers every operation that changes something", () => {
    expect(operations.toSorted()).toEqual(Object.keys(DEEDS).toSorted());
  });

  it.each(operations)("gets one line for each change by %s, and none if nothing changes", async (operationId) => {
    const { target, actions } = (await DEEDS[operationId]?.()) ?? { target: "", actions: [] };
    expect((await linesOf(target)).map(({ action }) => action)).toEqual(actions);
  });
});

describe("POST /operator/accounts/{id}/grants", () => {
  const grant = (id: string, credits: number, key: string) =>
    ask("POST", `/accounts/${id}/grants`, { credits }, { "idempotency-key": key });

  it("grants once with an Idempotency-Key, however often the request is repeated", async () => {
    const id = await makeAccount();
    const key = randomUUID();
    const answers = await Promise.all([grant(id, 2.5, key), grant(id, 2.5, key)]);
    answers.push(await grant(id, 2.5, key));
    for (const { status, body } of answers) expect([status, body]).toEqual([201, { data: { id, credits: 2.5 } }]);
    expect((await grant(id, 3, key)).body.error).toMatchObject({ code: "idempotency_conflict" });
    expect((await grant(id, 3, "x".repeat(256))).status).toBe(422);
    const lines = await linesOf(id);
    expect(lines.map(({ action }) => action)).toEqual(["account.grant.failed", "account.grant"]);
    expect(JSON.stringify(lines)).not.toContain(key);
  });

  it("takes credits back with a note, once per key, and logs the note", async () => {
    const id = await makeAccount();
    await done(grant(id, 5, randomUUID()));
    const [key, body] = [randomUUID(), { credits: -2, note: "Granted twice" }];
    for (let tries = 0; tries < 2; tries += 1) {
      const { body: response } = await done(ask("POST", `/accounts/${id}/grants`, body, { "idempotency-key": key }));
      expect(response.data.credits).toBe(3);
    }
    const [line] = await linesOf(id);
    expect(line).toMatchObject({ action: "account.grant", after: { grantMicro: -2_000_000, note: "Granted twice" } });
    const tooMuch = await ask("POST", `/accounts/${id}/grants`, { credits: -4, note: "All" });
    expect([tooMuch.status, tooMuch.body.error.message]).toEqual([400, expect.stringContaining("at most 3 can be")]);
  });

  it("refuses an invalid amount, and one above an account's maximum", async () => {
    const id = await makeAccount();
    for (const credits of [0, -1, 0.000_000_1, 4_000_000_001, 1e300]) {
      expect((await grant(id, credits, randomUUID())).body.error).toMatchObject({ code: "validation_failed" });
    }
    for (let tries = 0; tries < 2; tries += 1) await done(grant(id, 4_000_000_000, randomUUID()));
    expect((await grant(id, 4_000_000_000, randomUUID())).body.error).toMatchObject({ code: "bad_request" });
    expect((await ask("GET", `/accounts/${id}`)).body.data.credits).toBe(8_000_000_000);
  });

  it("grants nothing to a deleted account", async () => {
    const id = await makeAccount();
    await api.store.accounts.delete(id, api.clock.now());
    expect((await grant(id, 1, randomUUID())).body.error).toMatchObject({ code: "not_found" });
  });
});
