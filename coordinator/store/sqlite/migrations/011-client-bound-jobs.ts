/**
 * Which jobs are bound to the connection of a client that waits for them: after a crash nobody can read them. The index has unfinished
 * ones only, so that a start finds them without a look at the others. Frozen once released: a change is a new migration.
 */
export const clientBoundJobs = `
ALTER TABLE jobs ADD COLUMN client_bound INTEGER NOT NULL DEFAULT 0 CHECK (client_bound IN (0, 1));
CREATE INDEX jobs_of_clients ON jobs (id) WHERE client_bound = 1 AND completed_at_ms IS NULL;
`;
