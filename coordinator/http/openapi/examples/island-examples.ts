import { ACCOUNT_ID, AT, JOB_ID, LATER, type Examples } from "./example.ts";

const TOKEN_ID = "itk_01JGFJJZ00000000000000000K";
const TOKEN = { id: TOKEN_ID, name: "Garage", created_at: AT, last_used_at: null };
const SECRET = `it_${"a1B2".repeat(10)}`;

const HOST_ID = "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01";
const FIGURES = {
  uptime: { today: 1, days_7: 0.98, days_30: 0.91 },
  jobs: { completed: 812, failed: 3, cancelled: 20, timeout: 1, retried: 2 },
  tokens: 143_210,
  earned: { today: 4.5, days_7: 31.05, days_30: 118.35 },
};
const ISLAND = {
  id: HOST_ID,
  name: "garage",
  status: "online",
  is_live: true,
  suspended_because: null,
  agent_version: "0.1.0",
  hardware: {
    platform: "linux",
    arch: "x64",
    os_name: "Debian GNU/Linux 12",
    cpu_model: "AMD Ryzen 7 7700",
    logical_cores: 16,
    physical_cores: 8,
    ram_mb: 32_000,
    gpus: [{ vendor: "NVIDIA", name: "RTX 4070", vram_mb: 12_282, unified_memory: false, driver: "550.90" }],
    disk_free_mb: 210_000,
    disk_budget_mb: 51_200,
  },
  runtimes: [{ type: "llmcpp", version: "node-llama-cpp 3.22.1, cuda" }],
  load: { slots: 4, slots_busy: 1, cpu: 0.21, gpu: 0.87, free_ram_mb: 24_000, free_vram_mb: 9_800, temperature_c: 61 },
  loaded: ["tiny-chat"],
  loading: [],
  downloads: [
    {
      cargo: "phi-4",
      fraction: 0.5,
      received_bytes: 4_500_000_000,
      total_bytes: 9_000_000_000,
      bytes_per_second: 40_000_000,
    },
  ],
  running: [{ cargo: "tiny-chat", since: LATER }],
  first_seen_at: AT,
  last_seen_at: LATER,
  ...FIGURES,
};
export const DETAIL = {
  ...ISLAND,
  days: [
    {
      day: AT.slice(0, 10),
      uptime: 1,
      jobs: { completed: 31, failed: 0, cancelled: 1, timeout: 0, retried: 0 },
      tokens: 5_200,
      earned: 4.5,
    },
  ],
  cached_cargos: ["tiny-chat"],
  cached_models: ["hf:ggml-org/tiny:tiny.gguf"],
};

export const ISLAND_EXAMPLES: Examples = {
  listIslands: { response: { data: [ISLAND], meta: { total: 1, limit: 20, offset: 0 } } },
  getIsland: { response: { data: DETAIL } },
  renameIsland: { request: { name: "garage" }, response: { data: DETAIL } },
  getIslandEarnings: {
    response: {
      data: { name: "garage", ...FIGURES, recent: [{ job_id: JOB_ID, credits: 1.35, earned_at: LATER }] },
    },
  },
  leaveIsland: { response: { data: { id: HOST_ID, removed: true } } },
  removeIsland: { response: { data: { id: HOST_ID, removed: true } } },
  listIslandTokens: { response: { data: [TOKEN] } },
  createIslandToken: { request: { name: "Garage" }, response: { data: TOKEN, token: SECRET } },
  revokeIslandToken: { response: { data: { id: TOKEN_ID, revoked: true } } },
  createPairingCode: {
    request: { name: "Garage" },
    response: { data: { code: "K7WM-3QXA", name: "Garage", expires_at: "2026-01-01T12:10:00.000Z" } },
  },
  pairIsland: {
    request: { code: "K7WM-3QXA" },
    response: { data: { id: TOKEN_ID, name: "Garage", token: SECRET, account_id: ACCOUNT_ID } },
  },
};
