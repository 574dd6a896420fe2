import type { ParameterRule } from "./parameters.ts";

/** Fields of the form of `POST /files`; members are sent as `expires_after[seconds]`. Source of the names: OpenAI's API. */
export const FILE_PARAMETERS: readonly ParameterRule[] = [
  { name: "file", rule: "honoured", note: "one, of at most `file_max_mb`" },
  {
    name: "purpose",
    rule: "honoured",
    note: "assistants, batch, evals, fine-tune, user_data, vision; batches read `batch`",
  },
  { name: "expires_after", rule: "honoured", note: "" },
  { name: "expires_after.anchor", rule: "honoured", note: "`created_at`" },
  { name: "expires_after.seconds", rule: "honoured", note: "3600 to 2592000, and never longer than `keep_files_days`" },
];
