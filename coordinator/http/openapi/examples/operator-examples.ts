import { ACCOUNT_ID, AT, JOB_ID, LATER, type Examples } from "./example.ts";
import { DETAIL as ISLAND } from "./island-examples.ts";

const OWNER = { account_id: ACCOUNT_ID, account_email: "ada@example.com" };
const ACCOUNT = {
  id: ACCOUNT_ID,
  email: "ada@example.com",
  role: "user",
  credits: 9_998.5,
  held: 1.5,
  unfinished_jobs: 1,
  islands: 2,
  suspended: null,
  created_at: AT,
};
const LIMITS = { requests_per_minute: 100, concurrent_jobs: 10, concurrent_streams: 5, share: 100 };
const SUSPENDED = { ...ACCOUNT, suspended: { reason: "Sends spam", since: LATER }, limits: LIMITS };
const HOST_ID = ISLAND.id;
const FIGURES = new Set(["uptime", "jobs", "tokens", "earned", "days", "cached_cargos", "cached_models"]);
const LISTED_ISLAND = Object.fromEntries(Object.entries(ISLAND).filter(([name]) => !FIGURES.has(name)));
const page = (item: unknown) => ({ data: [item], meta: { total: 1, limit: 20, offset: 0 } });

const DIGEST = `sha256:${"a1b2".repeat(16)}`;
const REVISION = "0f1e".repeat(16);
const REVIEW = {
  slug: "my-words",
  name: "Words",
  description: "Counts words",
  status: "waiting",
  origin: "owned",
  owner_id: ACCOUNT_ID,
  owner_email: "ada@example.com",
  revision: REVISION,
  pin: { kind: "image_digest", value: DIGEST },
  approval: null,
  price_per_job: 0.05,
  shipped_price_per_job: null,
  signs: {
    runtime_type: "container",
    image: "docker.io/ada/words:1",
    image_digest: DIGEST,
    command: ["words"],
    network: false,
    gpu: false,
    model_url: null,
    model_hash: null,
    model_commit: null,
    model_bytes: null,
    args: null,
    required_ram_mb: 256,
    required_vram_mb: 0,
    price_per_job: 0.1,
  },
  cargo: { slug: "my-words", name: "Words", description: "Counts words", runtime_type: "container" },
};
const ANNOUNCEMENT = {
  id: "ann_01JGFJJZ00000000000000000N",
  level: "warning",
  text: "Maintenance at 22:00 UTC",
  created_at: AT,
  until: "2026-01-02T00:00:00.000Z",
};
const COORDINATOR = {
  id: "coord_01JGFJJZ00000000000000000C",
  address: "http://10.0.0.4:8080",
  version: "0.1.0",
  answers: true,
  islands: 3,
  slots: { free: 5, all: 9 },
  jobs: { running: 4, waiting: 2 },
};
const DISABLED = { data: { slug: "my-words", disabled: true } };

export const OPERATOR_EXAMPLES: Examples = {
  getNetworkOverview: {
    response: {
      data: {
        islands: { online: 3, known: 11 },
        slots: { free: 5, all: 9 },
        jobs: { running: 4, waiting: 2, finished_last_minute: 31 },
        waiting_by_reason: [{ reason: "no_island_offers_runtime", jobs: 2 }],
        tokens_per_second: 211.5,
        first_token_ms: { p50: 145.2, p99: 902.1 },
        errors_last_minute: 0,
        coordinators: [COORDINATOR],
        is_complete: true,
      },
    },
  },
  getNetworkQueue: {
    response: {
      data: [
        {
          workload_slug: "sdxl",
          only_islands_of: null,
          jobs: 2,
          reason: "no_island_offers_runtime",
          message: "no online Island offers diffusers",
          waiting_since: AT,
        },
      ],
      is_complete: true,
    },
  },
  listNetworkJobs: {
    response: page({
      id: JOB_ID,
      ...OWNER,
      batch_id: null,
      workload_slug: "tiny-chat",
      status: "completed",
      chat: true,
      priority: 0,
      attempts: 1,
      island_id: HOST_ID,
      error_code: null,
      prompt_tokens: 12,
      completion_tokens: 78,
      price: 1.5,
      credits_used: 1.35,
      created_at: AT,
      started_at: AT,
      completed_at: LATER,
    }),
  },
  listAuditLog: {
    response: page({
      id: 41,
      at: LATER,
      via: "api",
      actor: "user_01JGFJJZ00000000000000000R",
      actor_email: "operator@example.com",
      origin: "192.0.2.7",
      action: "account.suspend",
      target: { kind: "account", id: ACCOUNT_ID },
      before: null,
      after: { because: "Sends spam" },
    }),
  },
  listSettings: {
    response: {
      data: [
        {
          key: "network_fee",
          value: "0.1",
          source: "default",
          default: "0.1",
          environment: "ATOLL_NETWORK_FEE",
          allowed: "a number in 0..1",
          meaning: "Share of a job's price that the network keeps; the rest goes to the Island's owner",
        },
      ],
    },
  },
  listAccounts: { response: page(ACCOUNT) },
  getKnownAccount: { response: { data: { ...ACCOUNT, limits: LIMITS } } },
  setAccountLimits: {
    request: { concurrent_jobs: 50, share: null },
    response: { data: { ...LIMITS, concurrent_jobs: 50 } },
  },
  grantCredits: {
    request: { credits: 500, note: "For the workshop" },
    response: { data: { id: ACCOUNT_ID, credits: 10_498.5 } },
  },
  suspendAccount: { request: { reason: "Sends spam" }, response: { data: SUSPENDED } },
  reinstateAccount: { response: { data: { ...ACCOUNT, limits: LIMITS } } },
  listNetworkIslands: { response: page({ ...LISTED_ISLAND, ...OWNER }) },
  getNetworkIsland: { response: { data: { ...ISLAND, ...OWNER } } },
  suspendIsland: { request: { reason: "Returns wrong results" }, response: { data: { id: HOST_ID, suspended: true } } },
  reinstateIsland: { response: { data: { id: HOST_ID, suspended: false } } },
  listNetworkCargos: {
    response: page({
      slug: "my-words",
      runtime_type: "container",
      status: "waiting",
      origin: "owned",
      owner_id: ACCOUNT_ID,
      owner_email: "ada@example.com",
      pinned: false,
      price_per_job: 0.05,
      shipped_price_per_job: null,
    }),
  },
  getCargoReview: { response: { data: REVIEW } },
  reviewCargo: { request: {}, response: { data: REVIEW } },
  approveCargo: {
    request: { revision: REVISION, image_digest: DIGEST },
    response: { data: { slug: "my-words", revision: REVISION, approved: true } },
  },
  setCargoPrice: { request: { price_per_job: 0.05 }, response: { data: REVIEW } },
  disableCargo: { response: DISABLED },
  enableCargo: { response: { data: { slug: "my-words", disabled: false } } },
  listAnnouncements: { response: { data: [ANNOUNCEMENT] } },
  addAnnouncement: {
    request: { level: "warning", text: ANNOUNCEMENT.text, until: ANNOUNCEMENT.until },
    response: { data: ANNOUNCEMENT },
  },
  removeAnnouncement: { response: { data: { id: ANNOUNCEMENT.id, removed: true } } },
};
