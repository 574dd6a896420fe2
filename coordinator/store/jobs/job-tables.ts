import type { JobError } from "../../../shared/errors.ts";
import type { JobState } from "../../../shared/job-state.ts";
import type { FinishReason, Timings } from "../../../shared/output.ts";
import type { TokenRates } from "../../credits/pricing.ts";
import type { JobTerms } from "../../credits/trust.ts";
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
  since,
  small,
  Table,
  text,
  type RowOf,
} from "../steps/table.ts";

/** Returns a rule for SQLite only. Foreign keys use it because in PostgreSQL they would lock the referenced row. */
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
    /** Number of unfinished jobs. */
    unfinished: small("CHECK (unfinished >= 0)"),
    createdAtMs: integer(),
    /** Time when the client cancelled the whole batch. */
    cancelledAtMs: nullable(integer()),
    completedAtMs: nullable(integer()),
    webhookId: nullable(key()),
  },
  { indexes: ["CREATE INDEX batches_unfinished ON batches (id) WHERE completed_at_ms IS NULL"] },
);

export const SUBMITTED_BATCH_COLUMNS = [
  "id",
  "accountId",
  "slug",
  "workloadId",
  "priority",
  "failMode",
  "createdAtMs",
] as const satisfies readonly (keyof RowOf<typeof batchTable>)[];

export const jobTable = new Table(
  "jobs",
  {
    id: key("PRIMARY KEY"),
    /** Id of the coordinator that runs the job. */
    ownerId: onlyIn("postgres", key()),
    accountId: key(inSqlite("REFERENCES accounts (id)")),
    slug: key(),
    workloadId: integer(),
    state: text<JobState>(
      "CHECK (state IN ('pending', 'queued', 'running', 'completed', 'failed', 'cancelled', 'timeout'))",
    ),
    priority: small("CHECK (priority BETWEEN 0 AND 100)"),
    /** The held credits: the maximum of the charge. */
    priceMicro: integer("CHECK (price_micro >= 0)"),
    /** Number of attempts so far, including refused attempts. It is also the number of the current or last attempt. */
    attempt: small(inSqlite("DEFAULT 0")),
    islandId: nullable(key()),
    /** Island of the last attempt if the attempt was lost; null otherwise. */
    lostIslandId: onlyIn("postgres", nullable(key())),
    createdAtMs: integer(),
    /** Time at which the job ends in `timeout` if it has not started. */
    waitDeadlineMs: integer(),
    startedAtMs: nullable(integer()),
    completedAtMs: nullable(integer()),
    creditsUsedMicro: named("charged_micro", integer("DEFAULT 0 CHECK (charged_micro BETWEEN 0 AND price_micro)")),
    promptTokens: nullable(integer()),
    completionTokens: nullable(integer()),
    finishReason: nullable(text<FinishReason>()),
    timings: nullable(json<Timings>()),
    error: nullable(json<JobError>()),
    batchId: nullable(key(inSqlite("REFERENCES batches (id)"))),
    /** Whether the job counts against its account's limit of unfinished jobs. Only waiting jobs of a batch do not. */
    holdsQuota: named("has_place", onlyIn("postgres", flag("DEFAULT false"))),
    webhookId: nullable(key()),
    inputRemovedAtMs: nullable(integer()),
    /** Time when output and feed were removed; null if they were not. */
    outputRemovedAtMs: nullable(integer()),
    conversationId: nullable(key()),
    /** `chat`: a client waits for the result, as in a chat completion. `batch`: all other jobs. */
    jobClass: text<"chat" | "batch">({
      sqlite: "DEFAULT 'batch' CHECK (job_class IN ('chat', 'batch'))",
      postgres: "CHECK (job_class IN ('chat', 'batch'))",
    }),
    /** Number of attempts that an Island refused. They do not count towards the retry limit. */
    refusals: small("DEFAULT 0 CHECK (refusals >= 0)"),
    /** Whether the result can be read only on the connection of the request, which waits for it. */
    isClientBound: named("client_bound", flag(inSqlite("DEFAULT 0"))),
    /** Whether the indexes of ended jobs do not contain this ended job yet. It is added later, with many other jobs. */
    isUnlisted: onlyIn("sqlite", flag("DEFAULT 0")),
    /** Number of the API key that submitted the job; null for a session. */
    keyNumber: nullable(integer()),
    /** Month of the key's spending in which the job counts; null if the key had no monthly limit. */
    keyMonth: nullable(small()),
    /** Paths of ignored request parameters, such as `output_config.effort`; null if there are none. */
    ignoredParameters: nullable(json<readonly string[]>()),
    /** Rates of the charge at the submission; null if the job costs its price or nothing. */
    rates: since(3, nullable(json<TokenRates>())),
    /** Null if any Island may run the job, and it may be audited. */
    terms: since(4, nullable(json<JobTerms>())),
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
    hasRowid: 5,
  },
);
type JobColumn = keyof RowOf<typeof jobTable>;

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
  "rates",
  "terms",
] as const satisfies readonly JobColumn[];

/** Columns of an unfinished job that its coordinator keeps in memory. */
export const ACTIVE_COLUMNS = [
  "id",
  "accountId",
  "batchId",
  "slug",
  "state",
  "jobClass",
  "priority",
  "priceMicro",
  "rates",
  "terms",
  "attempt",
  "refusals",
  "islandId",
  "createdAtMs",
  "startedAtMs",
  "waitDeadlineMs",
  "isClientBound",
] as const satisfies readonly JobColumn[];

/** Columns that only the store uses. */
export const INTERNAL_COLUMNS = [
  "ownerId",
  "lostIslandId",
  "holdsQuota",
  "conversationId",
  "isUnlisted",
  "keyNumber",
  "keyMonth",
] as const satisfies readonly JobColumn[];

export const jobInputTable = new Table("job_inputs", {
  jobId: key({ sqlite: "PRIMARY KEY REFERENCES jobs (id)", postgres: "PRIMARY KEY" }),
  /** Input as JSON. */
  input: text(),
});

/** Outputs of completed jobs, except those that equal the text of the feed. */
export const jobOutputTable = new Table("job_outputs", {
  jobId: key({ sqlite: "PRIMARY KEY REFERENCES jobs (id)", postgres: "PRIMARY KEY" }),
  /** Output as JSON; empty for a large output. */
  output: text(),
  /** Length in UTF-16 units of a large output, which is in `large_pieces`; null for an inline output. */
  largeChars: nullable(integer()),
});

/** Chunks of the feeds of unfinished jobs, ordered by `ord`. */
export const feedChunkTable = new Table(
  "feed_chunks",
  {
    ord: definedAs(
      { sqlite: "INTEGER PRIMARY KEY", postgres: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY" },
      integer(),
    ),
    jobId: key(inSqlite("REFERENCES jobs (id)")),
    attempt: small(),
    /** Number of the Island's frame; null for items of the coordinator. */
    seq: nullable(integer()),
    /** Layout as JSON; in a SQLite row without text, which an earlier version wrote, the items themselves. */
    items: text(),
    /** Concatenated text of all tokens in the chunk. */
    text: definedAs({ sqlite: "TEXT" }, inner()),
  },
  {
    rules: ["UNIQUE (job_id, attempt, seq)"],
    indexes: [{ postgres: "CREATE INDEX feed_chunks_by_job ON feed_chunks (job_id, ord)" }],
    hasRowid: true,
  },
);

/** Feeds of ended jobs, folded into one row each. */
export const jobFeedTable = new Table("job_feeds", {
  jobId: key({ sqlite: "PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE", postgres: "PRIMARY KEY" }),
  layout: text(),
  /** Concatenated text of all tokens; null if there are none. */
  text: nullable(inner()),
});

/** Pieces of large outputs and images, at most 64 KiB each. */
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

/** The job or batch that the first request with an Idempotency-Key created. */
export const idempotencyKeyTable = new Table(
  "idempotency_keys",
  {
    accountId: key(inSqlite("REFERENCES accounts (id)")),
    key: key(),
    bodyHash: text(),
    /** Id of the job; for a batch, of its first job. */
    jobId: key(inSqlite("REFERENCES jobs (id)")),
    createdAtMs: integer(),
    batchId: nullable(key(inSqlite("REFERENCES batches (id)"))),
  },
  {
    rules: ["PRIMARY KEY (account_id, key)"],
    indexes: ["CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms)"],
  },
);
