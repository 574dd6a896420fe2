import { describe, expect, it } from "vitest";
import { CHAT_FILE, CONTAINER_FILE, ONNX_FILE, OTHER_MODEL } from "./cargo-builders.ts";
import {
  approve,
  as,
  coordinator,
  island,
  openForEachTest,
  other,
  owner,
  post,
  statusOf,
  submit,
} from "./owned-cargos.ts";

openForEachTest();

describe("an owner's Cargo", () => {
  it("is returned as it was written, enabled and not approved", async () => {
    const { status, body } = await post();
    expect([status, body.data]).toMatchObject([
      201,
      { ...ONNX_FILE, enabled: true, approved: false, revision: 1, run_limit_s: 300, wait_limit_s: 3_600 },
    ]);
    expect((await as(owner, "GET", "/account/cargos")).body.data).toEqual([body.data]);
    const page = { data: [], meta: { total: 0, limit: 1, offset: 0 } };
    expect((await as(other, "GET", "/account/cargos?limit=1")).body).toEqual(page);
  });

  it("is listed in pages for its owner, and only its slug is kept after its deletion", async () => {
    for (const slug of ["c", "a", "b"]) await post({ ...ONNX_FILE, slug });
    const { body } = await as(owner, "GET", "/account/cargos?limit=2&offset=1");
    expect([body.data.map(({ slug }: { slug: string }) => slug), body.meta]).toEqual([
      ["b", "c"],
      { total: 3, limit: 2, offset: 1 },
    ]);
    await as(owner, "DELETE", "/cargos/b");
    expect(coordinator.runSql("SELECT slug FROM cargos WHERE file <> '' ORDER BY slug")).toEqual([
      { slug: "a" },
      { slug: "c" },
    ]);
    expect(coordinator.runSql("SELECT slug FROM cargos WHERE file = ''")).toEqual([{ slug: "b" }]);
  });

  it("can be seen by slug and run only by its owner until it is approved", async () => {
    await post();
    const { body } = await as(owner, "GET", "/cargos/some-onnx");
    expect(body.data).toMatchObject({ approved: false, input_schema: ONNX_FILE.input_schema });
    for (const by of [other, null]) {
      const answer = await as(by, "GET", "/cargos/some-onnx");
      expect([answer.status, answer.body.error.code]).toEqual([404, "cargo_not_found"]);
    }
    const listed = await as(owner, "GET", "/cargos?runtime_type=onnx&category=text");
    expect(listed.body.cargos.map(({ slug }: { slug: string }) => slug)).not.toContain("some-onnx");
    expect([(await submit()).status, (await submit(other)).status]).toEqual([201, 404]);

    await approve();
    expect((await submit(other)).status).toBe(201);
    const after = await as(null, "GET", "/cargos?runtime_type=onnx&category=text");
    expect(after.body.cargos.map(({ slug }: { slug: string }) => slug)).toContain("some-onnx");
  });

  it("chats only for its owner before it is approved", async () => {
    await post({ ...CHAT_FILE, required_vram_mb: 0 });
    expect((await as(owner, "GET", "/models/some-chat")).status).toBe(200);
    expect((await as(other, "GET", "/models/some-chat")).status).toBe(404);
    const body = { model: "some-chat", messages: [{ role: "user", content: "Hello" }] };
    const refused = await as(other, "POST", "/chat/completions", body);
    expect([refused.status, refused.body.error.code]).toEqual([404, "model_not_found"]);
    await using host = await island();
    const answer = as(owner, "POST", "/chat/completions", body);
    const { jobId, attempt } = await host.next("assign");
    host.send({
      type: "failed",
      jobId,
      attempt,
      seq: 1,
      code: "model_invalid",
      message: "no such model",
      retryable: false,
    });
    expect((await answer).body.error).toMatchObject({ code: "job_failed", job_error: "model_invalid" });
  });

  it("cannot be changed or deleted by others", async () => {
    await post();
    await approve();
    const answers = [
      await as(other, "PATCH", "/cargos/some-onnx", { name: "Mine" }),
      await as(other, "DELETE", "/cargos/some-onnx"),
      await as(owner, "PATCH", "/cargos/tiny-chat", { name: "Mine" }),
      await as(owner, "DELETE", "/cargos/tiny-chat"),
    ];
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(
      answers.map(() => [404, "cargo_not_found"]),
    );
  });

  it("needs the scope write and an unused slug", async () => {
    const { secret } = await coordinator.withStore((_, accounts) => accounts.createKey(owner.id, { scopes: ["read"] }));
    expect((await as({ key: secret }, "POST", "/cargos", ONNX_FILE)).status).toBe(403);
    expect((await as(null, "POST", "/cargos", ONNX_FILE)).status).toBe(401);
    await post();
    for (const [file, by] of [
      [ONNX_FILE, other],
      [ONNX_FILE, owner],
      [{ ...ONNX_FILE, slug: "tiny-chat" }, owner],
    ] as const) {
      const { status, body } = await post(file, by);
      expect([status, body.error.code]).toEqual([422, "slug_taken"]);
    }
    await as(owner, "DELETE", "/cargos/some-onnx");
    expect([(await post(ONNX_FILE, other)).status, (await post()).status]).toEqual([422, 201]);
  });

  const LONG = Array.from({ length: 9 }, () => "a".repeat(8_000));
  const refusals: [what: string, fields: object, path: string][] = [
    ["a price above the limit", { price_per_job: 1_001 }, "price_per_job"],
    ["a run limit above the maximum", { run_limit_s: 3_601 }, "run_limit_s"],
    ["a model of the coordinator's own", { model: { ...ONNX_FILE.model, url: "/models/tiny.gguf" } }, "model.url"],
    ["a model on this machine", { model: { ...ONNX_FILE.model, url: "https://localhost/a" } }, "model.url"],
    ["an external schema", { input_schema: { $ref: "https://a.example" } }, "input_schema.$ref"],
    ["a slow pattern", withPattern("^(a+)+$"), "input_schema.properties.text.pattern"],
    ["a large example", { example_input: { text: "a".repeat(16_384) } }, "example_input"],
    ["too many bytes in total", { ...CONTAINER_FILE, container: { ...CONTAINER_FILE.container, command: LONG } }, ""],
    ["an unknown field", { colour: "red" }, ""],
  ];
  it("is rejected if any field is invalid or exceeds a limit", async () => {
    for (const [what, fields, path] of refusals) {
      const { status, body } = await post({ ...ONNX_FILE, ...fields });
      expect([what, status, body.error.details?.[0].path]).toEqual([what, 422, path]);
    }
  });

  it("loses its approval only by a change of its program or texts, a higher price or less memory", async () => {
    await post();
    await approve();
    const patch = async (fields: object) => (await as(owner, "PATCH", "/cargos/some-onnx", fields)).body.data.approved;
    const free = { licence: "ISC", price_per_job: 0.05, run_limit_s: 60, required_ram_mb: 1_024, required_vram_mb: 64 };
    expect(await patch(free)).toBe(true);
    expect((await as(null, "GET", "/cargos/some-onnx")).body.data).toMatchObject({ price_per_job: 0.05 });
    const changes = [
      { price_per_job: 0.2 },
      { model: { ...ONNX_FILE.model, url: OTHER_MODEL } },
      { weights: null },
      { name: "Tiny Chat" },
      { description: "Official" },
      { category: "utility" },
      { required_ram_mb: 1 },
      { required_vram_mb: 0 },
      { min_trust: "proven" },
    ];
    for (const change of changes) {
      expect([change, await patch(change)]).toEqual([change, false]);
      expect(await statusOf("/cargos/some-onnx")).toBe(404);
      await approve();
    }
    expect((await as(owner, "GET", "/account/cargos")).body.data[0]).not.toHaveProperty("weights");
    expect((await as(null, "GET", "/cargos/some-onnx")).body.data).toMatchObject({ min_trust: "proven" });
    const job = { workload: "some-onnx", input: ONNX_FILE.example_input, trust: "any" };
    const { id } = (await as(owner, "POST", "/jobs", job)).body.data;
    expect((await as(owner, "GET", `/jobs/${id}`)).body.data).toMatchObject({ trust: "proven" });
  });

  it("gets the price that follows from its changed `pricing`, and must keep both equal", async () => {
    const { price_per_job: _price, ...chat } = { ...CHAT_FILE, slug: "some-onnx" };
    const created = await post({ ...chat, pricing: { prompt: 4, completion: 16 } });
    expect([created.status, created.body.data.price_per_job]).toEqual([201, 0.01]);
    const patch = (fields: object) => as(owner, "PATCH", "/cargos/some-onnx", fields);
    expect((await patch({ pricing: { prompt: 8, completion: 32 } })).body.data.price_per_job).toBe(0.02);
    const refused = await patch({ price_per_job: 0.01 });
    expect([refused.status, refused.body.error.details[0].path]).toEqual([422, "price_per_job"]);
    expect((await patch({ price_per_job: 0.01, pricing: null })).body.data).toMatchObject({ price_per_job: 0.01 });
    expect((await as(owner, "GET", "/cargos/some-onnx")).body.data.pricing).toMatchObject({
      prompt: 4,
      completion: 16,
    });
    const tooDear = await patch({
      pricing: { prompt: 1, completion: 1_600_001, reference: { prompt_tokens: 1, completion_tokens: 1 } },
    });
    expect([tooDear.status, tooDear.body.error.details[0].path]).toEqual([422, "pricing.completion"]);
  });

  it("is validated as a whole when it is changed", async () => {
    await post();
    const { status, body } = await as(owner, "PATCH", "/cargos/some-onnx", { example_input: {} });
    expect([status, body.error.details]).toEqual([422, [{ path: "example_input.text", message: "is required" }]]);
  });

  it("keeps both of two concurrent changes", async () => {
    await post();
    const fields = [{ name: "New" }, { description: "Better" }, { licence: "ISC" }, { run_limit_s: 9 }];
    await Promise.all(fields.map((each) => as(owner, "PATCH", "/cargos/some-onnx", each)));
    const [cargo] = (await as(owner, "GET", "/account/cargos")).body.data;
    expect(cargo).toMatchObject({ name: "New", description: "Better", licence: "ISC", run_limit_s: 9, revision: 5 });
  });

  it("checks every input against its schema", async () => {
    await post();
    const { status, body } = await submit(owner, { workload: "some-onnx", input: { text: "" } });
    expect([status, body.error.details]).toEqual([
      422,
      [{ path: "input.text", message: "must NOT have fewer than 1 characters" }],
    ]);
  });

  it("is sent to the Island with what its runtime needs, and without network before it is approved", async () => {
    await post(CONTAINER_FILE);
    await using host = await island();
    await submit(owner, { workload: "some-container", input: { text: "Hello" } });
    const { cargo } = await host.next("assign");
    expect(cargo.container).toEqual({ ...CONTAINER_FILE.container, network: false });
  });
});

function withPattern(pattern: string): object {
  return { input_schema: { type: "object", properties: { text: { type: "string", pattern } } } };
}
