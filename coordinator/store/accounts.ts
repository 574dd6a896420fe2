import type { Role } from "./account-store.ts";
import { integer, key, nullable, Table, text, written } from "./table.ts";

export const accountTable = new Table(
  "accounts",
  {
    id: key("PRIMARY KEY"),
    email: text(),
    /** Two addresses with the same key are the same account. A deleted account has its id. */
    emailKey: key("UNIQUE"),
    passwordHash: text(),
    createdAtMs: integer(),
    requestsPerMinute: nullable(integer("CHECK (requests_per_minute >= 1)")),
    concurrentJobs: nullable(integer("CHECK (concurrent_jobs >= 0)")),
    concurrentStreams: nullable(integer("CHECK (concurrent_streams >= 0)")),
    deletedAtMs: nullable(integer()),
    share: nullable(integer("CHECK (share >= 1)")),
    role: text<Role>("DEFAULT 'user' CHECK (role IN ('user', 'operator'))"),
    suspendedAtMs: nullable(integer()),
    suspendedBecause: nullable(written()),
  },
  {
    indexes: [
      "CREATE INDEX accounts_suspended ON accounts (id) WHERE suspended_at_ms IS NOT NULL",
      "CREATE INDEX accounts_by_role ON accounts (role, id) WHERE role <> 'user'",
    ],
  },
);
