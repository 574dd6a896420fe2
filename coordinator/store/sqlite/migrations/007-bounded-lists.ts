/**
 * Indexes for the pages of long lists, so that a page costs no more than its offset. A job enters an index of ended jobs once, when it
 * ends; unfinished jobs are few in each account. Each index covers its reads. Deleted Cargos keep only slug and owner. Frozen once released: a change is a new migration.
 */
export const boundedLists = `
CREATE INDEX jobs_live_by_account ON jobs (account_id, id) WHERE completed_at_ms IS NULL;
CREATE INDEX jobs_ended_by_state ON jobs (account_id, state, id, completed_at_ms) WHERE completed_at_ms IS NOT NULL;
CREATE INDEX jobs_ended_by_cargo ON jobs (account_id, slug, state, id, completed_at_ms)
  WHERE completed_at_ms IS NOT NULL;

-- With the amounts, which a line's balance is counted from.
DROP INDEX entries_by_account;
CREATE INDEX entries_by_account ON entries (party, id, micro, kind) WHERE kind = 'charge' OR party GLOB 'client:*';

CREATE INDEX cargos_by_holder ON cargos (owner_id);
UPDATE cargos SET file = '' WHERE deleted_at_ms IS NOT NULL;
`;
