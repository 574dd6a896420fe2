import type { Examples } from "./example.ts";

const FILE_ID = "file_01JGFJJZ00000000000000000P";
const FILE = {
  id: FILE_ID,
  object: "file",
  bytes: 1_204_224,
  created_at: 1_735_689_600,
  expires_at: 1_738_281_600,
  filename: "meeting.wav",
  purpose: "user_data",
  status: "processed",
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
};

const BATCH_ID = "batch_01JGFJJZ00000000000000000Q";
const BATCH = {
  id: BATCH_ID,
  object: "batch",
  endpoint: "/v1/chat/completions",
  errors: null,
  input_file_id: FILE_ID,
  completion_window: "24h",
  status: "validating",
  output_file_id: null,
  error_file_id: null,
  created_at: 1_735_689_600,
  in_progress_at: null,
  expires_at: 1_735_776_000,
  finalizing_at: null,
  completed_at: null,
  failed_at: null,
  expired_at: null,
  cancelling_at: null,
  cancelled_at: null,
  request_counts: { total: 0, completed: 0, failed: 0 },
  metadata: { run: "nightly" },
};
const BATCH_AT_WORK = {
  ...BATCH,
  status: "in_progress",
  in_progress_at: 1_735_689_601,
  request_counts: { total: 200, completed: 57, failed: 1 },
};

export const FILE_EXAMPLES: Examples = {
  uploadFile: { response: FILE },
  listFiles: { response: { object: "list", data: [FILE], first_id: FILE_ID, last_id: FILE_ID, has_more: false } },
  getFile: { response: FILE },
  createFileBatch: {
    request: {
      input_file_id: FILE_ID,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
      metadata: { run: "nightly" },
    },
    response: BATCH,
  },
  listFileBatches: {
    response: { object: "list", data: [BATCH_AT_WORK], first_id: BATCH_ID, last_id: BATCH_ID, has_more: false },
  },
  getFileBatch: { response: BATCH_AT_WORK },
  cancelFileBatch: { response: { ...BATCH_AT_WORK, status: "cancelling", cancelling_at: 1_735_689_660 } },
  deleteFile: { response: { id: FILE_ID, object: "file", deleted: true } },
};
