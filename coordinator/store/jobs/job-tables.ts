import type { JobError } from "../../../shared/errors.ts";
import type { JobState } from "../../../shared/job-state.ts";
import type { FinishReason, Timings } from "../../../shared/output.ts";
import {
  definedAs,
  flag,
  inner,
  integer,
  json,
  key,
  named,
  nullable,
  onlyIn,
  small,
  Table,
  text,
  type RowOf,
} from "../steps/table.ts";

/** A reference costs PostgreSQL a lock of the row that it names. */
const inSqlite = (rule: string) => ({ sqlite: rule });

export const batchTable = new Table(
  "batches",
  {
    id: key("PRIMARY KEY"),
    accountId: key(inSqlite("REFERENCES accounts (id)")),
    slug: key(),
    workloadId: integer(),
    priority: small("CHECK (priority BETWEEN 0 AND 100)"),
    failMode: text<"best_effort" | "fail_fast">("CHECK (fail_mode IN ('best_effort', 'fail_fast'))"),
    /** Counted down as its jobs end. */
    unfinished: small("CHECK (unfinished >= 0)"),
    createdAtMs: integer(),
    /** When its client cancelled the whole batch; null if never. */
    cancelledAtMs: nullable(integer()),
    /** When its last job ended; null before. */
    completedAtMs: nullable(integer()),
    webhookId: nullable(key()),
  },
  { indexes: ["CREATE INDEX batches_unfinished ON batches (id) WHERE completed_at_ms IS NULL"] },
);

/** Columns that a submission gives. */
export const SUBMITTED_BATCH_COLUMNS = [
  "id",
  "accountId",
  "slug",
  "workloadId",
  "priority",
  "failMode",
  "createdAtMs",
] as const satisfies readonly (keyof RowOf<typeof batchTable>)[];

/** Everything of a job that is short. */
export const jobTable = new Table(
  "jobs",
  {
    id: key("PRIMARY KEY"),
    /** The coordinator that runs it. */
    ownerId: onlyIn("postgres", key()),
    accountId: key(inSqlite("REFERENCES accounts (id)")),
    slug: key(),
    workloadId: integer(),
    state: text<JobState>(
      "CHECK (state IN ('pending', 'queued', 'running', 'completed', 'failed', 'cancelled', 'timeout'))",
    ),
    /** 0 to 100. */
    priority: small("CHECK (priority BETWEEN 0 AND 100)"),
    priceMicro: integer("CHECK (price_micro >= 0)"),
    /** Attempts begun so far, with those that were refused; while the job is queued or running, the number of the present one. */
    attempt: small(inSqlite("DEFAULT 0")),
    islandId: nullable(key()),
    /** The Island that had the last attempt, which was lost. */
    lostIslandId: onlyIn("postgres", nullable(key())),
    createdAtMs: integer(),
    /** A job that has not started by then ends in `timeout`. */
    waitDeadlineMs: integer(),
    startedAtMs: nullable(integer()),
    completedAtMs: nullable(integer()),
    creditsUsedMicro: named("charged_micro", integer("DEFAULT 0 CHECK (charged_micro BETWEEN 0 AND price_micro)")),
    promptTokens: nullable(integer()),
    completionTokens: nullable(integer()),
    finishReason: nullable(text<FinishReason>()),
    timings: nullable(json<Timings>()),
    error: nullable(json<JobError>()),
    /** Null for a job that was submitted by itself. */
    batchId: nullable(key(inSqlite("REFERENCES batches (id)"))),
    /** Whether it counts against its account's limit of unfinished jobs. */
    hasPlace: onlyIn("postgres", flag("DEFAULT false")),
    webhookId: nullable(key()),
    /** When the input was removed, which is `{}` since then; null while it is kept. */
    inputRemovedAtMs: nullable(integer()),
    /** When output and feed were removed; null while they are kept. */
    outputRemovedAtMs: nullable(integer()),
    conversationId: nullable(key()),
    /** `chat`: a client waits for the answer, as in a chat completion. `batch`: everything else. */
    jobClass: text<"chat" | "batch">({
      sqlite: "DEFAULT 'batch' CHECK (job_class IN ('chat', 'batch'))",
      postgres: "CHECK (job_class IN ('chat', 'batch'))",
    }),
    /** Attempts that an Island refused. They are no tries. */
    refusals: small("DEFAULT 0 CHECK (refusals >= 0)"),
    /** A client waits for it on a connection, and cannot read it once that is lost. */
    isClientBound: named("client_bound", flag(inSqlite("DEFAULT 0"))),
    /** It has ended, and the indexes of ended jobs do not have it yet. */
    isUnlisted: onlyIn("sqlite", flag("DEFAULT 0")),
    /** The API key that it came with. */
    keyNumber: nullable(integer()),
    /** The month of the key that counts it. */
    keyMonth: nullable(small()),
    /** Paths of the request's parameters that were ignored, such as `output_config.effort`; null: none. */
    ignoredParameters: nullable(json<readonly string[]>()),
  },
  {
    indexes: [
      "CREATE INDEX jobs_by_batch ON jobs (batch_id, id) WHERE batch_id IS NOT NULL",
      "CREATE INDEX jobs_by_conversation ON jobs (conversation_id, id) WHERE conversation_id IS NOT NULL",
      {
        sqlite: "CREATE INDEX jobs_live ON jobs (account_id, id, client_bound) WHERE completed_at_ms IS NULL",
        postgres: "CREATE INDEX jobs_live ON jobs (account_id, id) WHERE completed_at_ms IS NULL",
      },
      { sqlite: "CREATE INDEX jobs_unlisted ON jobs (id) WHERE is_unlisted = 1" },
      { postgres: "CREATE INDEX jobs_by_owner ON jobs (owner_id, id) WHERE completed_at_ms IS NULL" },
      {
        sqlite: `CREATE INDEX jobs_ended ON jobs (completed_at_ms, state, slug)
          WHERE completed_at_ms IS NOT NULL AND is_unlisted = 0`,
        postgres: "CREATE INDEX jobs_ended ON jobs (completed_at_ms, state, slug) WHERE completed_at_ms IS NOT NULL",
      },
      {
        sqlite: `CREATE INDEX jobs_ended_by_state ON jobs (account_id, state, id, slug, completed_at_ms)
          WHERE completed_at_ms IS NOT NULL AND is_unlisted = 0`,
        postgres: "CREATE INDEX jobs_ended_by_state ON jobs (account_id, state, id) WHERE completed_at_ms IS NOT NULL",
      },
      {
        postgres:
          "CREATE INDEX jobs_ended_by_cargo ON jobs (account_id, slug, state, id) WHERE completed_at_ms IS NOT NULL",
      },
    ],
  },
);
type JobColumn = keyof RowOf<typeof jobTable>;

/** Columns that a submission gives. */
export const SUBMITTED_COLUMNS = [
  "id",
  "accountId",
  "slug",
  "workloadId",
  "jobClass",
  "priority",
  "priceMicro",
  "createdAtMs",
  "waitDeadlineMs",
  "isClientBound",
  "ignoredParameters",
] as const satisfies readonly JobColumn[];

/** Columns of an unfinished job that its coordinator keeps in memory, and reads when the job moves there. */
export const ACTIVE_COLUMNS = [
  "id",
  "accountId",
  "batchId",
  "slug",
  "state",
  "jobClass",
  "priority",
  "priceMicro",
  "attempt",
  "refusals",
  "islandId",
  "createdAtMs",
  "startedAtMs",
  "waitDeadlineMs",
  "isClientBound",
] as const satisfies readonly JobColumn[];

/** Columns that only the store uses. The record of a job has all others. */
export const INTERNAL_COLUMNS = [
  "ownerId",
  "lostIslandId",
  "hasPlace",
  "conversationId",
  "isUnlisted",
  "keyNumber",
  "keyMonth",
] as const satisfies readonly JobColumn[];

export const jobInputTable = new Table("job_inputs", {
  jobId: key({ sqlite: "PRIMARY KEY REFERENCES jobs (id)", postgres: "PRIMARY KEY" }),
  /** JSON. */
  input: text(),
});

/** Outputs that are not the text of their feed. */
export const jobOutputTable = new Table("job_outputs", {
  jobId: key({ sqlite: "PRIMARY KEY REFERENCES jobs (id)", postgres: "PRIMARY KEY" }),
  /** JSON; empty for a large one. */
  output: text(),
  /** Of a large output, which is in `large_pieces`; null for others. */
  largeChars: nullable(integer()),
});

/** Feeds of unfinished jobs. `ord` gives the order. */
export const feedChunkTable = new Table(
  "feed_chunks",
  {
    ord: definedAs(
      { sqlite: "INTEGER PRIMARY KEY", postgres: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY" },
      integer(),
    ),
    jobId: key(inSqlite("REFERENCES jobs (id)")),
    attempt: small(),
    /** Of the Island's frame; null for the coordinator's own items. */
    seq: nullable(integer()),
    /** The layout as JSON; in a row of an earlier version of SQLite, which has no text, the items. */
    items: text(),
    /** Of all tokens. */
    text: definedAs({ sqlite: "TEXT" }, inner()),
  },
  {
    rules: ["UNIQUE (job_id, attempt, seq)"],
    indexes: [{ postgres: "CREATE INDEX feed_chunks_by_job ON feed_chunks (job_id, ord)" }],
    hasRowid: true,
  },
);

export const jobFeedTable = new Table("job_feeds", {
  jobId: key({ sqlite: "PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE", postgres: "PRIMARY KEY" }),
  layout: text(),
  /** Of all tokens; null: none. */
  text: nullable(inner()),
});

/** Large values of jobs, in rows of bounded size. */
export const largePieceTable = new Table(
  "large_pieces",
  {
    jobId: key(inSqlite("REFERENCES jobs (id) ON DELETE CASCADE")),
    name: key(),
    piece: small(),
    text: text(),
  },
  { rules: ["PRIMARY KEY (job_id, name, piece)"], hasRowid: true },
);

/** What the first request with an Idempotency-Key made. */
export const idempotencyKeyTable = new Table(
  "idempotency_keys",
  {
    accountId: key(inSqlite("REFERENCES accounts (id)")),
    key: key(),
    bodyHash: text(),
    /** The job, or the first of the batch. */
    jobId: key(inSqlite("REFERENCES jobs (id)")),
    createdAtMs: integer(),
    batchId: nullable(key(inSqlite("REFERENCES batches (id)"))),
  },
  {
    rules: ["PRIMARY KEY (account_id, key)"],
    indexes: ["CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms)"],
  },
);
