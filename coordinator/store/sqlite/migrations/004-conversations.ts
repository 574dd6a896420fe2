/**
 * `ord` orders the messages of a conversation independently of the clock. The unique index makes sure that a conversation has at most
 * one answer in progress. `job_id` is not a foreign key, so that jobs can be pruned later.
 */
export const conversations = `
CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  title TEXT,
  slug TEXT NOT NULL,
  system_prompt TEXT,
  metadata TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_by_account ON conversations (account_id, id);

CREATE TABLE messages (
  ord INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  content TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('in_progress', 'completed', 'failed', 'cancelled', 'timeout')),
  job_id TEXT,
  finish_reason TEXT,
  error TEXT,
  created_at_ms INTEGER NOT NULL,
  completed_at_ms INTEGER
) STRICT;
CREATE INDEX messages_by_conversation ON messages (conversation_id, ord);
CREATE UNIQUE INDEX messages_in_progress ON messages (conversation_id) WHERE state = 'in_progress';
`;
