/**
 * What a column has, as far as the two databases store it in different ways. `flag`: true or false. `written`: a text that clients or
 * Islands write, which PostgreSQL keeps as JSON (`postgres/engine/text.ts`). `inner`: the same without the quotes. `secret`: sealed with
 * the key of its database.
 */
export type ColumnKind = "text" | "integer" | "flag" | "written" | "inner" | "secret";

/** A table that both databases have. */
export interface CopiedTable {
  readonly name: string;
  /** Its unique key, in whose order it is copied. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Columns that may be long: they bound how many rows are read at once. */
  readonly long: readonly string[];
}

const [text, integer, flag, written, inner, secret] = [
  "text",
  "integer",
  "flag",
  "written",
  "inner",
  "secret",
] as const satisfies ColumnKind[];

function table(
  name: string,
  key: string,
  columns: CopiedTable["columns"],
  long: CopiedTable["long"] = [],
): CopiedTable {
  return { name, key: key.split(" "), columns, long };
}

/** All tables with data, in an order that foreign keys allow. `revisions` beside them: one number each. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  table("accounts", "id", {
    id: text,
    email: text,
    email_key: text,
    password_hash: text,
    created_at_ms: integer,
    deleted_at_ms: integer,
    requests_per_minute: integer,
    concurrent_jobs: integer,
    concurrent_streams: integer,
    share: integer,
    role: text,
    suspended_at_ms: integer,
    suspended_because: written,
  }),
  table("api_keys", "id", {
    id: text,
    account_id: text,
    name: written,
    prefix: text,
    scopes: text,
    secret_hash: text,
    created_at_ms: integer,
    last_used_at_ms: integer,
    revoked_at_ms: integer,
    expires_at_ms: integer,
    cargos: text,
    monthly_micro: integer,
    number: integer,
  }),
  table("key_spending", "key_number", { key_number: integer, month: integer, micro: integer }),
  table("sessions", "token_hash", {
    token_hash: text,
    account_id: text,
    created_at_ms: integer,
    expires_at_ms: integer,
    last_used_at_ms: integer,
  }),
  table("email_changes", "account_id", { account_id: text, token_hash: text, email: text, expires_at_ms: integer }),
  table("password_resets", "token_hash", { token_hash: text, account_id: text, expires_at_ms: integer }),
  table("sign_ups", "token_hash", { token_hash: text, email: text, email_key: text, expires_at_ms: integer }),
  table("island_tokens", "id", {
    id: text,
    account_id: text,
    name: written,
    token_hash: text,
    created_at_ms: integer,
    last_used_at_ms: integer,
    revoked_at_ms: integer,
  }),
  table("pairing_codes", "code_hash", { code_hash: text, account_id: text, name: written, expires_at_ms: integer }),
  table("islands", "host_id", {
    host_id: text,
    account_id: text,
    agent_version: written,
    hardware: text,
    runtimes: text,
    last_seen_at_ms: integer,
    first_seen_at_ms: integer,
    name: written,
    host_name: written,
    removed_at_ms: integer,
  }),
  table("suspended_islands", "host_id", { host_id: text, at_ms: integer, because: written }),
  table("announcements", "id", { id: text, level: text, text: written, created_at_ms: integer, until_ms: integer }),
  table("audit_log", "id", {
    id: integer,
    at_ms: integer,
    via: text,
    actor: text,
    origin: text,
    action: text,
    target_kind: text,
    target_id: text,
    before: text,
    after: text,
  }),
  table("island_days", "account_id host_id day", {
    account_id: text,
    host_id: text,
    day: integer,
    online_ms: integer,
    completed: integer,
    failed: integer,
    cancelled: integer,
    timed_out: integer,
    retried: integer,
    tokens: integer,
  }),
  table("cargo_numbers", "number", { number: integer, slug: text }),
  table(
    "cargos",
    "slug",
    {
      slug: text,
      owner_id: text,
      file: text,
      enabled: flag,
      approved: flag,
      revision: integer,
      created_at_ms: integer,
      updated_at_ms: integer,
      deleted_at_ms: integer,
    },
    ["file"],
  ),
  table("cargo_approvals", "slug", {
    slug: text,
    file: text,
    revision: text,
    approved_by: text,
    approved_at_ms: integer,
  }),
  table("disabled_cargos", "slug", { slug: text, at_ms: integer }),
  table("batches", "id", {
    id: text,
    account_id: text,
    slug: text,
    workload_id: integer,
    priority: integer,
    fail_mode: text,
    unfinished: integer,
    created_at_ms: integer,
    cancelled_at_ms: integer,
    completed_at_ms: integer,
    webhook_id: text,
  }),
  table("jobs", "id", {
    id: text,
    account_id: text,
    slug: text,
    workload_id: integer,
    state: text,
    job_class: text,
    priority: integer,
    price_micro: integer,
    attempt: integer,
    refusals: integer,
    island_id: text,
    client_bound: flag,
    created_at_ms: integer,
    wait_deadline_ms: integer,
    started_at_ms: integer,
    completed_at_ms: integer,
    charged_micro: integer,
    prompt_tokens: integer,
    completion_tokens: integer,
    finish_reason: text,
    timings: text,
    error: text,
    batch_id: text,
    webhook_id: text,
    conversation_id: text,
    key_number: integer,
    key_month: integer,
    input_removed_at_ms: integer,
    output_removed_at_ms: integer,
  }),
  table("job_inputs", "job_id", { job_id: text, input: text }, ["input"]),
  table("job_outputs", "job_id", { job_id: text, output: text, large_chars: integer }, ["output"]),
  table(
    "feed_chunks",
    "ord",
    { ord: integer, job_id: text, attempt: integer, seq: integer, items: text, text: inner },
    ["items", "text"],
  ),
  table("job_feeds", "job_id", { job_id: text, layout: text, text: inner }, ["layout", "text"]),
  table("large_pieces", "job_id name piece", { job_id: text, name: text, piece: integer, text }, ["text"]),
  table("idempotency_keys", "account_id key", {
    account_id: text,
    key: text,
    body_hash: text,
    job_id: text,
    batch_id: text,
    created_at_ms: integer,
  }),
  table(
    "webhooks",
    "id",
    {
      id: text,
      account_id: text,
      subject_kind: text,
      subject_id: text,
      url: text,
      secret,
      is_secret_generated: flag,
      state: text,
      ended_at_ms: integer,
      due_at_ms: integer,
      tries: text,
    },
    ["tries"],
  ),
  table(
    "conversations",
    "id",
    {
      id: text,
      account_id: text,
      title: written,
      slug: text,
      system_prompt: written,
      metadata: text,
      created_at_ms: integer,
      updated_at_ms: integer,
    },
    ["system_prompt", "metadata"],
  ),
  table(
    "messages",
    "ord",
    {
      ord: integer,
      id: text,
      conversation_id: text,
      role: text,
      content: written,
      state: text,
      job_id: text,
      finish_reason: text,
      error: text,
      created_at_ms: integer,
      completed_at_ms: integer,
    },
    ["content"],
  ),
  table("removals", "kind id", { kind: text, id: text, at_ms: integer }),
  table("balances", "party", { party: text, micro: integer }),
  table("entries", "id", {
    id: integer,
    txn: integer,
    party: text,
    micro: integer,
    kind: text,
    job_id: text,
    at_ms: integer,
  }),
];

/** Tables with one row, whose number is set at the end. */
export const REVISIONS = ["catalog_revision", "credentials_revision"] as const;

/** Rows that are read at once, at most; of long ones fewer. */
const PAGE_ROWS = 500;

/** The next rows of a table in the order of its key, as FROM and what follows; the last key's values are $1, $2, … unless it is the first page. */
export function nextRowsSql({ name, key }: CopiedTable, isFirst: boolean): string {
  const order = key.join(", ");
  const after = isFirst ? "" : `WHERE (${order}) > (${key.map((_, index) => `$${index + 1}`).join(", ")})`;
  return `FROM ${name} ${after} ORDER BY ${order} LIMIT ${PAGE_ROWS}`;
}

export function lastKeySql({ name, key }: CopiedTable): string {
  return `SELECT ${key.join(", ")} FROM ${name} ORDER BY ${key.map((column) => `${column} DESC`).join(", ")} LIMIT 1`;
}
