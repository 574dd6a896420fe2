import type { ParameterRule } from "./parameters.ts";

/** Parameters of `POST /uploads`. Source of the names: OpenAI's API. */
export const UPLOAD_PARAMETERS: readonly ParameterRule[] = [
  { name: "bytes", rule: "honoured", note: "1 to `file_max_mb`; all parts together have to have exactly these" },
  { name: "filename", rule: "honoured", note: "" },
  { name: "purpose", rule: "honoured", note: "as with `POST /files`" },
  { name: "mime_type", rule: "hint", note: "files are bytes, and given as such" },
  { name: "expires_after", rule: "honoured", note: "" },
  { name: "expires_after.anchor", rule: "honoured", note: "`created_at`: of the file" },
  { name: "expires_after.seconds", rule: "honoured", note: "3600 to 2592000, and never longer than `keep_files_days`" },
];

/** Parameters of `POST /uploads/{id}/complete`. */
export const COMPLETE_UPLOAD_PARAMETERS: readonly ParameterRule[] = [
  { name: "part_ids", rule: "honoured", note: "1 to 1000, in order; a part may come several times" },
  {
    name: "md5",
    rule: "honoured",
    note: "hexadecimal, of the whole file; another than the parts have is 422 and leaves the upload as it was",
  },
];
