import { MIB } from "../../shared/format-bytes.ts";
import { setting } from "../../shared/settings.ts";

const MS_PER_DAY = 86_400_000;
const MAX_MB = 1_048_576;

/** Files that accounts upload: where they are, how many and for how long. */
export const FILE_SETTINGS = {
  filesDirectory: setting.text("files_dir", {
    fallback: null,
    unsetMeans: "files in the data directory",
    meaning: "Where files of accounts are kept; several coordinators need one that they share",
  }),
  fileMaxBytes: setting.number("file_max_mb", {
    min: 1,
    max: MAX_MB,
    factor: MIB,
    fallback: 512,
    meaning: "Size of one file that an account may upload",
  }),
  filesBudgetBytes: setting.number("files_budget_mb", {
    min: 1,
    max: MAX_MB,
    factor: MIB,
    fallback: 4_096,
    meaning: "Size of all files of one account together; above it, uploads get 413",
  }),
  keepFilesMs: setting.number("keep_files_days", {
    min: 0,
    max: 36_500,
    factor: MS_PER_DAY,
    fallback: 30,
    meaning: "Files are removed this long after their upload, unless their client asked for less; 0 keeps them",
  }),
};
