/**
 * Limits of single accounts (null: the default), and the index for the pages of an account's ledger. It leaves out entries that no
 * page shows, so that a job costs the writer little.
 */
export const quotas = `
ALTER TABLE accounts ADD COLUMN requests_per_minute INTEGER CHECK (requests_per_minute >= 1);
ALTER TABLE accounts ADD COLUMN concurrent_jobs INTEGER CHECK (concurrent_jobs >= 0);
ALTER TABLE accounts ADD COLUMN concurrent_streams INTEGER CHECK (concurrent_streams >= 0);

CREATE INDEX entries_by_account ON entries (party) WHERE kind = 'charge' OR party GLOB 'client:*';
`;
