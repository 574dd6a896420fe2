import { MIB } from "../../shared/format-bytes.ts";
import { setting, settingGroup, type Settings } from "../../shared/settings.ts";

const MAX_OUTPUT_MB = 64;
const MAX_MEMORY_MB = 1_048_576;

export const MEMORY_SETTINGS = settingGroup("Output and memory", {
  maxOutputBytes: setting.number("max_output_mb", {
    min: 0.1,
    max: MAX_OUTPUT_MB,
    factor: MIB,
    fallback: 16,
    meaning: "Maximum output of a job, unless its input or its Cargo sets another limit",
  }),
  outputMemoryBytes: megabytes("output_memory_mb", {
    unsetMeans: "1/8 of the heap limit",
    meaning:
      "Memory for the output of all unfinished jobs. Above this limit, jobs of accounts that exceed their share fail",
  }),
  accountOutputMemoryBytes: megabytes("account_output_memory_mb", {
    unsetMeans: "1/4 of output_memory_mb",
    meaning: "Memory for the output of one account's unfinished jobs. The job that exceeds it fails",
  }),
  islandOutputMemoryBytes: megabytes("island_output_memory_mb", {
    unsetMeans: "1/2 of output_memory_mb",
    meaning: "Memory for the output of the jobs on one Island. The job that exceeds it fails",
  }),
  intakeMemoryBytes: megabytes("intake_memory_mb", {
    unsetMeans: "1/16 of the heap limit, at least 16",
    meaning:
      "Memory for output of all Islands that is not stored yet. When it is full, the coordinator stops reading from Islands that send large frames until memory is free",
  }),
  islandIntakeBytes: setting.number("island_intake_mb", {
    min: 0.1,
    max: MAX_MEMORY_MB,
    factor: MIB,
    fallback: 8,
    meaning:
      "Memory for output of one Island that is not stored yet. When it is full, the coordinator stops reading from the Island until memory is free",
  }),
  answerMemoryBytes: megabytes("answer_memory_mb", {
    unsetMeans: "1/8 of the heap limit",
    meaning:
      "Memory for responses over 1 MB that clients are still reading. When it is full, new responses over 1 MB fail with 503",
  }),
});

function megabytes(key: string, texts: { unsetMeans: string; meaning: string }) {
  return setting.number(key, { ...texts, min: 1, max: MAX_MEMORY_MB, factor: MIB, fallback: null });
}

/** All memory limits in bytes. */
export type MemoryBudgets = { readonly [Name in keyof typeof MEMORY_SETTINGS]: number };

/** Returns all limits. A limit that is not set is a share of `heapBytes`, the heap limit of this process. */
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
