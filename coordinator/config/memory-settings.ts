import { MIB } from "../../shared/format-bytes.ts";
import { setting, type Settings } from "../../shared/settings.ts";

/** Largest output that any job may make, whatever a Cargo or a setting says. */
const MAX_OUTPUT_MB = 64;
const MAX_MEMORY_MB = 1_048_576;

/** How much output a job may make, and how much of what Islands send and clients read may be in memory. */
export const MEMORY_SETTINGS = {
  maxOutputBytes: setting.number("max_output_mb", {
    min: 0.1,
    max: MAX_OUTPUT_MB,
    factor: MIB,
    fallback: 16,
    meaning: "Output that a job may make if neither its input nor its Cargo says how much",
  }),
  outputMemoryBytes: megabytes("output_memory_mb", {
    unsetMeans: "an eighth of the heap limit",
    meaning: "Output of all unfinished jobs in memory; above it, jobs of the accounts with more than their share fail",
  }),
  accountOutputMemoryBytes: megabytes("account_output_memory_mb", {
    unsetMeans: "a quarter of output_memory_mb",
    meaning: "Output of one account's unfinished jobs in memory; above it, the job that makes more fails",
  }),
  islandOutputMemoryBytes: megabytes("island_output_memory_mb", {
    unsetMeans: "half of output_memory_mb",
    meaning: "Output in memory of the jobs that one Island runs; above it, the job that makes more fails",
  }),
  intakeMemoryBytes: megabytes("intake_memory_mb", {
    unsetMeans: "a sixteenth of the heap limit, and 16 at least",
    meaning: "Output of all Islands that waits to be stored; above it, Islands that send large frames are not read",
  }),
  islandIntakeBytes: setting.number("island_intake_mb", {
    min: 0.1,
    max: MAX_MEMORY_MB,
    factor: MIB,
    fallback: 8,
    meaning: "Output of one Island that waits to be stored; above it, the Island is not read",
  }),
  answerMemoryBytes: megabytes("answer_memory_mb", {
    unsetMeans: "an eighth of the heap limit",
    meaning: "Answers of more than 1 MB that clients have not read yet; above it, such a request gets 503",
  }),
};

function megabytes(key: string, texts: { unsetMeans: string; meaning: string }) {
  return setting.number(key, { ...texts, min: 1, max: MAX_MEMORY_MB, factor: MIB, fallback: null });
}

/** Every budget in bytes. */
export type MemoryBudgets = { readonly [Name in keyof typeof MEMORY_SETTINGS]: number };

/** Fills in what is not set. `heapBytes`: the most that this process may allocate for JavaScript. */
export function memoryBudgets(settings: Settings<typeof MEMORY_SETTINGS>, heapBytes: number): MemoryBudgets {
  const outputMemoryBytes = settings.outputMemoryBytes ?? heapBytes / 8;
  return {
    maxOutputBytes: settings.maxOutputBytes,
    outputMemoryBytes,
    accountOutputMemoryBytes: settings.accountOutputMemoryBytes ?? outputMemoryBytes / 4,
    islandOutputMemoryBytes: settings.islandOutputMemoryBytes ?? outputMemoryBytes / 2,
    intakeMemoryBytes: settings.intakeMemoryBytes ?? Math.max(heapBytes / 16, 16 * MIB),
    islandIntakeBytes: settings.islandIntakeBytes,
    answerMemoryBytes: settings.answerMemoryBytes ?? heapBytes / 8,
  };
}
