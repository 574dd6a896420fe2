/**
 * The weight of an account in the fair share (null: the default), the class of a job, and how many of its attempts were refusals, which
 * do not count as tries. Frozen once released: a change is a new migration.
 */
export const fairShare = `
ALTER TABLE accounts ADD COLUMN share INTEGER CHECK (share >= 1);
ALTER TABLE jobs ADD COLUMN job_class TEXT NOT NULL DEFAULT 'batch' CHECK (job_class IN ('chat', 'batch'));
ALTER TABLE jobs ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0 CHECK (refusals >= 0);
`;
