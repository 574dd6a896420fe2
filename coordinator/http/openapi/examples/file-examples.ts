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

export const FILE_EXAMPLES: Examples = {
  uploadFile: { response: FILE },
  listFiles: { response: { object: "list", data: [FILE], first_id: FILE_ID, last_id: FILE_ID, has_more: false } },
  getFile: { response: FILE },
  deleteFile: { response: { id: FILE_ID, object: "file", deleted: true } },
};
