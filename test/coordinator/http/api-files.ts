import pino from "pino";
import { AttemptProofs } from "../../../coordinator/dispatch/attempt-proofs.ts";
import { FileContents } from "../../../coordinator/files/file-contents.ts";
import { FileService, type FileServiceDeps } from "../../../coordinator/files/file-service.ts";

const DAY_MS = 86_400_000;

export type TestFiles = FileService;

/** Files of tests: small, and few. */
export function openTestFiles(deps: Pick<FileServiceDeps, "store" | "clock"> & { readonly directory: string }) {
  const { directory, ...rest } = deps;
  const limits = { maxFileBytes: 1_000_000, budget: { maxBytes: 2_000_000, maxFiles: 5 }, keepMs: 30 * DAY_MS };
  const contents = new FileContents(directory, 0);
  const proofs = new AttemptProofs(Buffer.alloc(32, 1));
  return new FileService({ ...rest, proofs, contents, log: pino({ level: "silent" }), limits });
}
