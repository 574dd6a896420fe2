import type { Catalog } from "../../../coordinator/catalog/catalog.ts";
import type { BatchJobs } from "../../../coordinator/dialects/batches/line-jobs.ts";
import { openBatches } from "../../../coordinator/dialects/batches/open-batches.ts";
import { lineEndpoints } from "../../../coordinator/dialects/dialects.ts";
import { attemptTokens } from "../../../coordinator/dispatch/attempt-tokens.ts";
import { openFiles, type Files } from "../../../coordinator/files/open-files.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";
import type { TestStore } from "../../support/store/test-store.ts";

const DAY_MS = 86_400_000;
const MAX_FILES = 5;

/** Opens file batches over the API's own jobs. */
export function openTestBatches(store: TestStore, clock: ManualClock, files: Files, jobs: BatchJobs, catalog: Catalog) {
  return openBatches(testEnv({}, { clock }), store, files, jobs, catalog, lineEndpoints);
}

/** Opens the file service with small limits. */
export function openTestFiles(store: TestStore, clock: ManualClock, filesDirectory: string): Files {
  const config = {
    filesDirectory,
    fileMaxBytes: 1_000_000,
    filesBudgetBytes: 2_000_000,
    keepFilesMs: 30 * DAY_MS,
    minFreeDiskBytes: 0,
  };
  return openFiles(testEnv(config, { clock }), store, attemptTokens(Buffer.alloc(32, 1)), MAX_FILES);
}
