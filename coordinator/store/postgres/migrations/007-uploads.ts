/** Files that come in parts. The parts are on disk. Frozen once released. */
export const uploads = `
CREATE TABLE uploads (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  purpose text NOT NULL,
  filename text NOT NULL,
  size_bytes bigint NOT NULL,
  file_life_ms bigint,
  state text COLLATE "C" NOT NULL,
  file_id text COLLATE "C",
  parts_hash text COLLATE "C",
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX uploads_by_account ON uploads (account_id, state, expires_at_ms);
CREATE INDEX uploads_by_expiry ON uploads (expires_at_ms);

CREATE TABLE upload_parts (
  id text COLLATE "C" PRIMARY KEY,
  upload_id text COLLATE "C" NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
  account_id text COLLATE "C" NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  UNIQUE (upload_id, sha256)
);
CREATE INDEX upload_parts_by_account ON upload_parts (account_id, size_bytes);
`;
