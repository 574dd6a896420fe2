/**
 * Less to write for each job: four indexes in place of eight, a pass over which a list, a start or a removal can afford. A chunk of a
 * feed is a layout and a text, as a folded feed is; `text` is null in chunks of earlier versions, whose `items` are all items as JSON.
 * Frozen once released: a change is a new migration.
 */
export const leanWrites = `
ALTER TABLE feed_chunks ADD COLUMN text TEXT;

-- Unfinished jobs: of an account, of clients, and all.
DROP INDEX jobs_unfinished;
DROP INDEX jobs_live_by_account;
DROP INDEX jobs_of_clients;
CREATE INDEX jobs_live ON jobs (account_id, id, client_bound) WHERE completed_at_ms IS NULL;

-- Ended jobs in the order of their ends: what completed lately, and whose content has expired.
DROP INDEX jobs_completions;
DROP INDEX jobs_with_input;
DROP INDEX jobs_with_output;
CREATE INDEX jobs_ended ON jobs (completed_at_ms, state, slug) WHERE completed_at_ms IS NOT NULL;

-- A list of all jobs of an account merges jobs_live and each state of jobs_ended_by_state.
DROP INDEX jobs_by_account;
`;
