import { AT, type Examples } from "./example.ts";

const CARGO = {
  slug: "tiny-chat",
  name: "Tiny Chat",
  description: "Counts, adds small numbers and tells very short stories",
  runtime_type: "llmcpp",
  onnx_task_type: null,
  category: "llm",
  price_per_job: 0.01,
  required_vram_mb: 0,
  required_ram_mb: 256,
  context_tokens: 1_024,
  licence: "MIT",
  model_sha256: "857f6ac0d6da446c8d8aa0b4349f9f4931263da78bbc81600f1312abbce1625e",
  chat: true,
};

const OWN = {
  slug: "my-words",
  name: "My words",
  description: "Tells the mood of a text",
  category: "text",
  runtime_type: "onnx",
  onnx_task_type: "text-classification",
  licence: "Apache-2.0",
  price_per_job: 0.25,
  required_ram_mb: 512,
  required_vram_mb: 0,
  model: { url: "hf:ada/my-words", sha256: null, size_bytes: 67_000_000 },
  context_tokens: null,
  run_limit_s: 300,
  wait_limit_s: 3_600,
  input_schema: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
  example_input: { input: "What a day!" },
};
const OWN_NOW = { ...OWN, enabled: true, approved: false, revision: 1, created_at: AT, updated_at: AT };

export const CARGO_EXAMPLES: Examples = {
  listAvailability: {
    response: { data: [{ slug: "tiny-chat", islands: 3, ready: 2, free: 1 }], is_complete: true },
  },
  listCargos: { response: { cargos: [CARGO], count: 1 } },
  getCargo: {
    response: {
      data: {
        ...CARGO,
        workload_id: 7,
        task: null,
        input_schema: { type: "object", properties: { prompt: { type: "string" } } },
        example_input: { prompt: "Count to 3." },
        output_schema: { type: "string" },
        run_limit_s: 300,
        wait_limit_s: 3_600,
        accept_limit_s: null,
        start_limit_s: null,
        first_output_limit_s: null,
        silence_limit_s: null,
        approved: true,
      },
    },
  },
  listOwnCargos: { response: { data: [OWN_NOW], meta: { total: 1, limit: 20, offset: 0 } } },
  createCargo: { request: OWN, response: { data: OWN_NOW } },
  changeCargo: {
    request: { price_per_job: 0.5 },
    response: { data: { ...OWN_NOW, price_per_job: 0.5, revision: 2 } },
  },
  deleteCargo: { response: { data: { slug: "my-words", deleted: true } } },
  recommendCargos: {
    response: {
      host_id: "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
      recommendations: [
        {
          workload_slug: "tiny-chat",
          model_url: "https://atoll.example/models/tiny-chat.gguf",
          model_hash: null,
          runtime_type: "llmcpp",
          estimated_earnings_per_job: "0.009",
          queued_demand: 3,
          demand_score: 48,
          is_default: true,
        },
      ],
    },
  },
  getHealth: { response: { status: "ok", version: "0.1.0", checks: { store: "ok" } } },
};
