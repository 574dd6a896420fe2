import type { ParameterRule } from "./parameters.ts";

/** Parameters of `POST /batches`. Source of the names: OpenAI's API. */
export const BATCH_PARAMETERS: readonly ParameterRule[] = [
  { name: "input_file_id", rule: "honoured", note: "a JSONL file with the purpose `batch`" },
  { name: "endpoint", rule: "honoured", note: "that of every line; those that batches have are in files.md" },
  { name: "completion_window", rule: "honoured", note: "`24h`" },
  { name: "metadata", rule: "honoured", note: "up to 16 texts" },
  { name: "output_expires_after", rule: "honoured", note: "of both files of results" },
  { name: "output_expires_after.anchor", rule: "honoured", note: "`created_at`: of each file" },
  {
    name: "output_expires_after.seconds",
    rule: "honoured",
    note: "3600 to 2592000, and never longer than `keep_files_days`",
  },
];
