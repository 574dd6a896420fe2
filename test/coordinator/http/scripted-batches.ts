import { ServiceError } from "../../../shared/errors.ts";
import type { BatchApi } from "../../../coordinator/jobs/batches/batch-service.ts";

/** Serves an account without batches. Tests of batches use a whole coordinator. */
export const noBatches: BatchApi = {
  submit: () => Promise.reject(new Error("These tests submit no batch")),
  get: (_accountId, batchId) => Promise.reject(new ServiceError("not_found", `There is no batch "${batchId}"`)),
  cancel: (_accountId, batchId) => Promise.reject(new ServiceError("not_found", `There is no batch "${batchId}"`)),
};
