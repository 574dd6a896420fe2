/**
 * What was removed of a job, and which removals are under way (they go on after a crash). `conversation_id` also names jobs that were
 * replaced by another try of the same answer. A deleted account keeps its row, because ledger and jobs refer to it. Frozen once released.
 */
export const removal = `
ALTER TABLE jobs ADD COLUMN input_removed_at_ms INTEGER;
ALTER TABLE jobs ADD COLUMN output_removed_at_ms INTEGER;
ALTER TABLE jobs ADD COLUMN conversation_id TEXT;
UPDATE jobs SET conversation_id = messages.conversation_id FROM messages WHERE messages.job_id = jobs.id;
-- Ended jobs that still have the part, by their end. A job leaves when the part is removed.
CREATE INDEX jobs_with_input ON jobs (completed_at_ms) WHERE completed_at_ms IS NOT NULL AND input_removed_at_ms IS NULL;
CREATE INDEX jobs_with_output ON jobs (completed_at_ms) WHERE completed_at_ms IS NOT NULL AND output_removed_at_ms IS NULL;
CREATE INDEX jobs_by_conversation ON jobs (conversation_id, id) WHERE conversation_id IS NOT NULL;
CREATE INDEX messages_by_job ON messages (job_id) WHERE job_id IS NOT NULL;

CREATE INDEX webhooks_ended ON webhooks (ended_at_ms) WHERE state IN ('delivered', 'failed');
CREATE INDEX webhooks_by_account ON webhooks (account_id);

CREATE TABLE removals (
  kind TEXT NOT NULL CHECK (kind IN ('job', 'output', 'conversation', 'account')),
  id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

ALTER TABLE accounts ADD COLUMN deleted_at_ms INTEGER;

CREATE TABLE password_resets (
  token_hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX password_resets_by_account ON password_resets (account_id);
`;
