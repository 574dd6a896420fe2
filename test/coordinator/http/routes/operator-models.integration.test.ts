import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashSecret, newSecret } from "../../../../coordinator/accounts/secrets.ts";
import { newId } from "../../../../shared/ids.ts";
import { makeTinyGguf } from "../../../support/models/tiny-gguf.ts";
import { HubServer } from "../../../support/servers/hub-server.ts";
import { Api } from "../api.ts";

let api: Api;
let hub: HubServer;
let operator = "";
beforeAll(async () => {
  hub = await HubServer.start();
  hub.hasCdn = false;
  api = await Api.open();
  api.hubUrl = hub.url;
  const createdAtMs = api.clock.now();
  const id = newId("user", createdAtMs);
  await api.store.accounts.create({ id, email: "op@example.com", passwordHash: "", postings: [], createdAtMs });
  operator = newSecret("st");
  const times = { createdAtMs, expiresAtMs: createdAtMs + 1_000_000 };
  await api.store.accounts.createSession({ tokenHash: hashSecret(operator), accountId: id, ...times }, 5);
  await api.store.operators.setRole(id, "operator");
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await hub[Symbol.asyncDispose]();
});

const add = (body: object) => api.call("POST", "/operator/cargos", { key: operator, body });

describe("POST /operator/cargos", () => {
  it("previews a model, and adds exactly the previewed revision", async () => {
    const repository = hub.put("maker/words-GGUF", { "words-Q8_0.gguf": makeTinyGguf() }, { licence: "mit" });
    const wanted = { source: "hf.co/maker/words-GGUF", context_tokens: 512, price_per_job: 0.5 };
    const preview = await add({ ...wanted, dry_run: true });
    expect(preview).toMatchObject({
      status: 200,
      body: {
        data: {
          slug: "words",
          added: false,
          licence: "mit",
          gated: false,
          architecture: "llama",
          islands: { online: 0, fitting: 0 },
          cargo: { context_tokens: 512, price_per_job: 0.5, quantization: "Q8_0" },
        },
      },
    });
    const { revision } = preview.body.data;
    repository.files = { "words-Q8_0.gguf": makeTinyGguf({ layers: 2 }) };
    expect((await add({ ...wanted, revision })).body.error.message).toContain("has changed since the preview");
    repository.files = { "words-Q8_0.gguf": makeTinyGguf() };
    expect((await add({ ...wanted, revision })).body.data).toMatchObject({ slug: "words", added: true, revision });
    const review = await api.call("GET", "/operator/cargos/words", { key: operator });
    expect(review.body.data).toMatchObject({ status: "offered", origin: "imported", revision });
  });

  it.each([
    ["/etc/passwd.gguf", "can be added only with the command"],
    ["ollama:http://127.0.0.1:1/library/x", "can be added only with the command"],
    ["hf.co/maker/none", "127.0.0.1"],
    ["nonsense/x", "names no model"],
  ])("refuses %s, with the reason", async (source, message) => {
    const { status, body } = await add({ source });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
  });
});
