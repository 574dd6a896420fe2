import pino from "pino";
import { attemptProofs } from "../../../coordinator/dispatch/attempt-proofs.ts";
import { FileContents } from "../../../coordinator/files/file-contents.ts";
import type { FileBatchDeps } from "../../../coordinator/dialects/batches/file-batch-deps.ts";
import { FileBatchService } from "../../../coordinator/dialects/batches/file-batch-service.ts";
import type { HttpDeps } from "../../../coordinator/http/http-deps.ts";
import { lineEndpoints } from "../../../coordinator/dialects/batches/line-endpoints.ts";
import { TEST_HTTP_OPTIONS } from "../../support/http-options.ts";
import { FileService, type FileServiceDeps } from "../../../coordinator/files/file-service.ts";

const DAY_MS = 86_400_000;

export type TestFiles = FileService;

/** Batches over files, of the API's own jobs. */
export function openTestFileBatches(
  deps: Omit<FileBatchDeps, "countEnd" | "endpoints" | "log"> & Pick<HttpDeps, "catalog">,
): FileBatchService {
  const log = pino({ level: "silent" });
  const endpoints = lineEndpoints({ catalog: deps.catalog, options: TEST_HTTP_OPTIONS, log });
  return new FileBatchService({ ...deps, endpoints, log });
}

/** Files of tests: small, and few. */
export function openTestFiles(deps: Pick<FileServiceDeps, "store" | "clock"> & { readonly directory: string }) {
  const { directory, ...rest } = deps;
  const limits = { maxFileBytes: 1_000_000, budget: { maxBytes: 2_000_000, maxFiles: 5 }, keepMs: 30 * DAY_MS };
  const contents = new FileContents(directory, 0);
  const proofs = attemptProofs(Buffer.alloc(32, 1));
  return new FileService({ ...rest, proofs, contents, log: pino({ level: "silent" }), limits });
}
