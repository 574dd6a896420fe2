/** Tables of files that come in parts, as `copied-tables.ts` lists others. */
export const UPLOAD_TABLES = [
  {
    name: "uploads",
    key: ["id"],
    columns: {
      id: "text",
      account_id: "text",
      purpose: "text",
      filename: "text",
      size_bytes: "integer",
      file_life_ms: "integer",
      state: "text",
      file_id: "text",
      parts_hash: "text",
      created_at_ms: "integer",
      expires_at_ms: "integer",
    },
    long: [],
  },
  {
    name: "upload_parts",
    key: ["id"],
    columns: {
      id: "text",
      upload_id: "text",
      account_id: "text",
      size_bytes: "integer",
      sha256: "text",
      created_at_ms: "integer",
    },
    long: [],
  },
] as const;
