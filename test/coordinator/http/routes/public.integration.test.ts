import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../../shared/errors.ts";
import { Api, eventually } from "../api.ts";
import { makeCargo } from "../api-catalog.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";

const HOST_ID = "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const get = (path: string) => api.call("GET", path, { key: null });

describe("GET /health", () => {
  it("is ok with the version", async () => {
    const { status, body } = await get("/health");
    expect([status, body]).toEqual([200, { status: "ok", version: "1.2.3", checks: { store: "ok" } }]);
  });

  it("is degraded when the store fails", async () => {
    api.checkStore = () => Promise.reject(new Error("disk full"));
    const { status, body } = await get("/health");
    expect([status, body]).toEqual([503, { status: "degraded", version: "1.2.3", checks: { store: "failing" } }]);
  });

  it("is degraded while the store is read-only", async () => {
    api.checkStore = async () => undefined;
    api.storeState.readOnlyReason = "the disk is full";
    const { status, body } = await get("/health");
    expect([status, body]).toEqual([503, { status: "degraded", version: "1.2.3", checks: { store: "read_only" } }]);
  });

  it("is degraded, and serves, while the other coordinators cannot be reached", async () => {
    api.checkStore = async () => undefined;
    api.bus = { downReason: null };
    expect((await get("/health")).body).toEqual({
      status: "ok",
      version: "1.2.3",
      checks: { store: "ok", bus: "ok" },
    });
    api.bus = { downReason: "no connection to nats" };
    const { status, body } = await get("/health");
    expect([status, body]).toEqual([
      200,
      { status: "degraded", version: "1.2.3", checks: { store: "ok", bus: "down" } },
    ]);
  });

  it("is degraded when the store hangs", async () => {
    api.checkStore = () => new Promise(() => undefined);
    const response = get("/health");
    await eventually(() => api.clock.pendingTimers === 1);
    api.clock.advance(2_000);
    expect((await response).status).toBe(503);
  });

  it(...unlessSeveral("checks the store at most once a second", "each checks it"), async () => {
    let asked = 0;
    api.checkStore = async () => void (asked += 1);
    for (let call = 0; call < 5; call += 1) await get("/health");
    expect(asked).toBe(1);
    api.clock.advance(1_000);
    await get("/health");
    expect([asked, api.clock.pendingTimers]).toEqual([2, 0]);
  });
});

describe("GET /cargos", () => {
  it("lists Cargos with the spec's names and units", async () => {
    const { status, body } = await get("/cargos?runtime_type=onnx");
    expect([status, body]).toEqual([
      200,
      {
        cargos: [
          {
            slug: "words",
            name: "Tiny",
            description: "A small model",
            runtime_type: "onnx",
            onnx_task_type: "text-classification",
            category: "text",
            price_per_job: 0.250001,
            pricing: null,
            required_vram_mb: 0,
            required_ram_mb: 668,
            context_tokens: null,
            licence: "MIT",
            min_trust: "any",
            chat: false,
            model_sha256: null,
            input_modalities: ["text"],
            output_modalities: ["text"],
            supported_features: [],
            parameters: null,
            quantization: null,
            declared: false,
          },
        ],
        count: 1,
      },
    ]);
  });

  it.each([
    ["", ["second", "tiny", "words"]],
    ["?category=llm", ["second", "tiny"]],
    ["?category=llm&runtime_type=llmcpp", ["second", "tiny"]],
    ["?category=audio", []],
    ["?category=text&runtime_type=llmcpp", []],
    ["?runtime_type=coreml", []],
  ])("filters by %j", async (query, slugs) => {
    const { body } = await get(`/cargos${query}`);
    expect(body.cargos.map(({ slug }: { slug: string }) => slug)).toEqual(slugs);
    expect(body.count).toBe(slugs.length);
  });

  it.each([
    ["runtime_type=gguf", "runtime_type"],
    ["runtime_type=", "runtime_type"],
    ["category=LLM", "category"],
  ])("refuses %j", async (query, path) => {
    const { status, body } = await get(`/cargos?${query}`);
    expect([status, body.error.details[0].path]).toEqual([422, path]);
  });
});

describe("GET /cargos/:slug", () => {
  it("returns the input schema and an example input", async () => {
    const { status, body } = await get("/cargos/tiny");
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      slug: "tiny",
      workload_id: 7,
      input_schema: { type: "object" },
      example_input: { prompt: "hi" },
      output_schema: { type: "string" },
      run_limit_s: 300,
      wait_limit_s: 3_600,
    });
  });

  it("returns 404 cargo_not_found for an unknown Cargo", async () => {
    const { status, body } = await get("/cargos/none");
    expect([status, body.error.code]).toEqual([404, "cargo_not_found"]);
  });
});

describe("GET /models", () => {
  it("lists Cargos in OpenAI's format", async () => {
    const list = await api.call("GET", "/models");
    const facts = {
      capabilities: ["/chat/completions", "/completions", "/messages", "/responses"],
      alias_of: null,
      is_default: true,
      available: false,
      ready: false,
      free: 0,
      pricing: {
        per_job: 1.5,
        unit: "credits",
        prompt: 600,
        completion: 2_400,
        megapixel_step: null,
        audio_second: null,
      },
      context_length: 2_048,
      max_output_tokens: 2_048,
      tokens_per_second: null,
      first_token_ms: null,
    };
    const tiny = {
      id: "tiny",
      object: "model",
      created: 1_700_000_000,
      owned_by: "atoll",
      type: "chat",
      ...facts,
      tool_calls: "grammar",
      reasoning: false,
      name: "Tiny",
      hugging_face_id: null,
      is_ready: false,
      islands_ready: 0,
      max_output_length: 2_048,
      supported_sampling_parameters: expect.arrayContaining(["temperature", "seed"]) as string[],
      input_modalities: ["text"],
      output_modalities: ["text"],
      supported_features: ["tools", "json_mode", "structured_outputs", "logprobs"],
      parameters: null,
      quantization: null,
      declared: false,
    };
    const words = {
      ...tiny,
      id: "words",
      type: "classification",
      capabilities: ["/moderations"],
      is_default: false,
      pricing: {
        per_job: 0.250001,
        unit: "credits",
        prompt: null,
        completion: null,
        megapixel_step: null,
        audio_second: null,
      },
      context_length: null,
      max_output_tokens: null,
      max_output_length: null,
      supported_sampling_parameters: [],
      supported_features: [],
      tool_calls: null,
    };
    expect([list.status, list.body]).toEqual([
      200,
      { object: "list", data: [{ ...tiny, id: "second", name: "Second", is_default: false }, tiny, words] },
    ]);
    expect((await api.call("GET", "/models/tiny")).body).toEqual(tiny);
  });

  it("reports what Islands can start now, and the measured speed", async () => {
    api.models.available = [
      { slug: "tiny", islands: 3, ready: 2, free: 1 },
      { slug: "second", islands: 1, ready: 0, free: 1 },
    ];
    api.models.speed = { tokensPerSecond: 41.46, firstTokenMs: 230.4 };
    const { data } = (await api.call("GET", "/models")).body;
    const [second, tiny] = data;
    const state = { available: true, tokens_per_second: 41.5, first_token_ms: 230 };
    expect(second).toMatchObject({ ...state, ready: false, free: 1 });
    expect(tiny).toMatchObject({ ...state, ready: true, free: 1 });
    expect((await api.call("GET", "/models/tiny")).body).toEqual(tiny);
  });

  it("states the repository, the weights and the abilities of a model, and whether it is only declared", async () => {
    const weights = { parameters: "8B", quantization: "Q4_K_M", reasoning: true } as const;
    const hub = { url: `hf:Qwen/Qwen3-8B#${"ab".repeat(20)}`, sha256: null, sizeBytes: null };
    const proved = makeCargo({ slug: "a-proved", runtimeType: "engine", model: hub, ...weights });
    const declared = makeCargo({ slug: "declared-b", runtimeType: "engine", model: { ...hub, url: "engine:b" } });
    api.catalog.replace([proved, declared]);
    const { data } = (await api.call("GET", "/models")).body;
    const facts = { hugging_face_id: "Qwen/Qwen3-8B", parameters: "8B", quantization: "Q4_K_M", declared: false };
    expect(data).toMatchObject([facts, { hugging_face_id: null, declared: true }]);
    expect(data[0].supported_features).toContain("reasoning");
    expect((await get("/cargos")).body.cargos).toMatchObject([{ parameters: "8B" }, { declared: true }]);
  });

  it("lists public Cargos and the caller's own unapproved ones", async () => {
    const own = makeCargo({ slug: "own", workloadId: 20, privateTo: api.accountId });
    api.catalog.replace([makeCargo(), own, makeCargo({ slug: "theirs", workloadId: 21, privateTo: "user_other" })]);
    const { body } = await api.call("GET", "/models");
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(["own", "tiny"]);
    const statuses = ["own", "theirs"].map(async (id) => (await api.call("GET", `/models/${id}`)).status);
    expect(await Promise.all(statuses)).toEqual([200, 404]);
  });

  it("omits Cargos that run only as jobs", async () => {
    api.catalog.replace([makeCargo(), makeCargo({ slug: "hash", runtimeType: "wasm", isChat: false })]);
    expect((await api.call("GET", "/models")).body.data).toHaveLength(1);
    expect((await api.call("GET", "/models/hash")).status).toBe(404);
  });

  it.each(["none"])("returns 404 for the model %s", async (id) => {
    const { status, body } = await api.call("GET", `/models/${id}`);
    expect([status, body.error]).toEqual([
      404,
      {
        message: `There is no model "${id}"; GET /models lists those that you may use`,
        type: "invalid_request_error",
        param: null,
        code: "model_not_found",
      },
    ]);
  });
});

describe("GET /island/recommendations", () => {
  const one = {
    slug: "tiny",
    modelUrl: "/models/tiny.gguf",
    modelHash: null,
    runtimeType: "llmcpp" as const,
    estimatedEarningsPerJob: "1.35",
    queuedDemand: 3,
    demandScore: 34,
    isDefault: true,
  };
  const hub = { ...one, slug: "second", modelUrl: "hf:owner/repo:file.gguf", modelHash: "ab" };

  it("uses the spec's names, with a full URL for files that the coordinator serves itself", async () => {
    api.recommend = async () => [one, hub];
    const { status, body } = await get(`/island/recommendations?host_id=${HOST_ID}`);
    const wire = {
      workload_slug: "tiny",
      model_url: `${api.url}/models/tiny.gguf`,
      model_hash: null,
      runtime_type: "llmcpp",
      estimated_earnings_per_job: "1.35",
      queued_demand: 3,
      demand_score: 34,
      is_default: true,
    };
    expect([status, body]).toEqual([
      200,
      {
        host_id: HOST_ID,
        recommendations: [
          wire,
          { ...wire, workload_slug: "second", model_url: "hf:owner/repo:file.gguf", model_hash: "ab" },
        ],
      },
    ]);
  });

  it.each([
    [{ publicUrl: "https://atoll.example/base/" }, "https://atoll.example/base/models/tiny.gguf"],
    [{ trustProxy: true }, "https://front.example/models/tiny.gguf"],
    [{ trustProxy: false }, "/models/tiny.gguf"],
  ])("uses the origin of %j", async (options, url) => {
    await using other = await Api.open(options);
    other.recommend = async () => [one];
    const headers = { "x-forwarded-proto": "http, https", "x-forwarded-host": "front.example" };
    const { body } = await other.call("GET", `/island/recommendations?host_id=${HOST_ID}`, { headers });
    expect(body.recommendations[0].model_url).toBe(url.startsWith("/") ? `${other.url}${url}` : url);
  });

  it.each(["", "?host_id=", "?host_id=7", `?host_id=${HOST_ID}0`])("refuses %j", async (query) => {
    const { status, body } = await get(`/island/recommendations${query}`);
    expect([status, body.error.details[0].path]).toEqual([422, "host_id"]);
  });

  it("returns 404 for an unknown Island", async () => {
    api.recommend = () => Promise.reject(new ServiceError("not_found", "There is no such Island"));
    expect((await get(`/island/recommendations?host_id=${HOST_ID}`)).status).toBe(404);
  });
});
