import { ACCOUNT_ID, AT, JOB_ID, type Examples } from "./example.ts";

const ACCOUNT = { id: ACCOUNT_ID, email: "ada@example.com", credits: 9_998.5, role: "user", created_at: AT };
const CREDENTIALS = { email: "ada@example.com", password: "correct horse battery" };
const SESSION = {
  data: { token: `st_${"a1B2".repeat(10)}`, expires_at: "2026-01-31T12:00:00.000Z", account: ACCOUNT },
};
const KEY_ID = "key_01JGFJJZ00000000000000000H";
const KEY = { id: KEY_ID, name: "Laptop", scopes: ["read", "write"], created_at: AT };
const PREFIX = "ak_a1B2a1B2";

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
    response: { data: { id: ACCOUNT.id, deleted: true } },
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
  listApiKeys: { response: { data: [{ ...KEY, prefix: PREFIX, last_used_at: null }] } },
  createApiKey: {
    request: { name: "Laptop", scopes: "read,write" },
    response: { data: { ...KEY, prefix: PREFIX }, key: `ak_${"a1B2".repeat(10)}`, ...KEY },
  },
  revokeApiKey: { response: { data: { id: KEY_ID, revoked: true } } },
};
