/**
 * Large JSON values (images of feeds, outputs) in pieces that are read one by one. `name`: "output", or attempt.seq.index of a feed's
 * item. `job_outputs.large_chars`: the output is in `large_pieces`, and `output` is empty. `job_feeds`: the feed of an ended job, in
 * place of its chunks; `text` is that of all tokens, and the output of a completed job without a row in `job_outputs`. Frozen once
 * released: a change is a new migration.
 */
export const foldedFeeds = `
CREATE TABLE large_pieces (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  piece INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (job_id, name, piece)
) STRICT;

ALTER TABLE job_outputs ADD COLUMN large_chars INTEGER;

CREATE TABLE job_feeds (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  layout TEXT NOT NULL,
  text TEXT
) STRICT, WITHOUT ROWID;
`;
