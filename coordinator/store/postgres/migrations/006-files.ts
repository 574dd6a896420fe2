/** Files of accounts. Their contents are on disk, one for all files that are equal. Frozen once released. */
export const files = `
CREATE TABLE file_blobs (
  name text COLLATE "C" PRIMARY KEY,
  sha256 text COLLATE "C" NOT NULL UNIQUE,
  size_bytes bigint NOT NULL
);

CREATE TABLE files (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  purpose text NOT NULL,
  filename text NOT NULL,
  size_bytes bigint NOT NULL,
  blob text COLLATE "C" NOT NULL REFERENCES file_blobs (name),
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint
);
CREATE INDEX files_by_account ON files (account_id, id, size_bytes);
CREATE INDEX files_by_blob ON files (blob);
CREATE INDEX files_by_expiry ON files (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

CREATE TABLE file_holds (
  job_id text COLLATE "C" NOT NULL,
  file_id text COLLATE "C" NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  made_at_ms bigint NOT NULL,
  PRIMARY KEY (file_id, job_id)
);
CREATE INDEX file_holds_by_time ON file_holds (made_at_ms);
`;
