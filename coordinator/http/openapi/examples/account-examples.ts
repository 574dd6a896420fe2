import { ACCOUNT_ID, AT, JOB_ID, type Examples } from "./example.ts";

const ACCOUNT = { id: ACCOUNT_ID, email: "ada@example.com", credits: 9_998.5, role: "user", created_at: AT };
const CREDENTIALS = { email: "ada@example.com", password: "correct horse battery" };
const SESSION = {
  data: { token: `st_${"a1B2".repeat(10)}`, expires_at: "2026-01-31T12:00:00.000Z", account: ACCOUNT },
};
const KEY_ID = "key_01JGFJJZ00000000000000000H";
const KEY = { id: KEY_ID, name: "Laptop", scopes: ["read", "write"], created_at: AT };
const SESSION_ID = "ses_0f1e2d3c4b5a69788796a5b4";
const LIMITS = { expires_at: "2026-12-31T00:00:00.000Z", cargos: ["tiny-chat"], credits_per_month: 100 };
const PREFIX = "ak_a1B2a1B2";
const SECRET = `ak_${"a1B2".repeat(10)}`;

export const ACCOUNT_EXAMPLES: Examples = {
  getAccount: { response: { data: ACCOUNT } },
  listLedger: {
    response: {
      data: [
        {
          id: 2,
          kind: "hold",
          amount: -1.5,
          held: 1.5,
          balance: 9_998.5,
          job_id: JOB_ID,
          batch_id: null,
          workload_slug: "tiny-chat",
          note: null,
          created_at: AT,
        },
        {
          id: 1,
          kind: "grant",
          amount: 10_000,
          held: 0,
          balance: 10_000,
          job_id: null,
          batch_id: null,
          workload_slug: null,
          note: null,
          created_at: AT,
        },
      ],
      meta: { total: 2, limit: 20, offset: 0 },
    },
  },
  register: { request: CREDENTIALS, response: SESSION },
  verifyEmail: { request: { token: `ep_${"a1B2".repeat(10)}`, password: CREDENTIALS.password }, response: SESSION },
  login: { request: CREDENTIALS, response: SESSION },
  deleteAccount: {
    request: { password: CREDENTIALS.password },
    response: { data: { id: ACCOUNT.id, deleted: true, kept: ["entries of the ledger"] } },
  },
  changeAccount: {
    request: { current_password: CREDENTIALS.password, email: "ada@example.org" },
    response: { data: { ...ACCOUNT, pending_email: "ada@example.org" } },
  },
  confirmEmail: { request: { token: `ep_${"a1B2".repeat(10)}` }, response: { data: { email_changed: true } } },
  listSessions: {
    response: {
      data: [
        { id: SESSION_ID, created_at: AT, last_used_at: AT, expires_at: "2026-01-31T12:00:00.000Z", current: true },
      ],
    },
  },
  endSession: { response: { data: { id: SESSION_ID, ended: true } } },
  getUsage: {
    response: {
      data: [
        {
          day: "2026-01-01",
          kind: "spent",
          workload_slug: "tiny-chat",
          api_key_id: KEY_ID,
          jobs: 12,
          prompt_tokens: 480,
          completion_tokens: 960,
          credits: 12,
        },
      ],
      meta: { total: 1, limit: 100, offset: 0, from: "2025-12-03", to: "2026-01-01", spent: 12, earned: 0 },
    },
  },
  changePassword: {
    request: { current: CREDENTIALS.password, new: "another long password" },
    response: { data: { password_changed: true } },
  },
  requestPasswordReset: { request: { email: CREDENTIALS.email }, response: { data: { accepted: true } } },
  resetPassword: {
    request: { token: `pr_${"a1B2".repeat(10)}`, new: "another long password" },
    response: { data: { password_changed: true } },
  },
  logout: { response: { data: { logged_out: true } } },
  listApiKeys: {
    response: { data: [{ ...KEY, ...LIMITS, prefix: PREFIX, last_used_at: null, credits_this_month: 12 }] },
  },
  createApiKey: {
    request: { name: "Laptop", scopes: "read,write", ...LIMITS },
    response: { data: { ...KEY, ...LIMITS, prefix: PREFIX, key: SECRET }, key: SECRET, ...KEY },
  },
  changeApiKey: {
    request: { credits_per_month: 100, cargos: null },
    response: { data: { ...KEY, ...LIMITS, cargos: null, prefix: PREFIX, last_used_at: null, credits_this_month: 12 } },
  },
  revokeApiKey: { response: { data: { id: KEY_ID, revoked: true } } },
};
