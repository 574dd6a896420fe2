import { ServiceError, ValidationError, type ErrorCode, type FieldError } from "../../shared/errors.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { MAX_FILES_OF_JOB, MAX_JOB_FILE_BYTES } from "../../shared/job-files.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { filePlacesOf, type FilePlace } from "../catalog/file-places.ts";
import type { FileHold, FileRecord } from "../store/files/files.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";

/** Then the jobs may be stored all the same. */
const UNSURE: ReadonlySet<ErrorCode> = new Set([
  "cluster_unavailable",
  "internal",
  "shutting_down",
  "storage_unavailable",
]);

/**
 * Checks that the account may use the files that an input names.
 * @param input was accepted by the Cargo's schema. @param root its field in the request.
 * @returns their ids. @throws {ValidationError}
 */
export async function checkJobFiles(
  files: Store["files"],
  accountId: string,
  cargo: Pick<CatalogEntry, "isChat" | "inputSchema">,
  { input, inputJson, root }: { readonly input: JobInput; readonly inputJson: string; readonly root: string },
  nowMs: number,
): Promise<string[]> {
  const places = cargo.isChat ? [] : filePlacesOf(cargo.inputSchema, input, inputJson);
  if (places.length === 0) return [];
  if (places.length > MAX_FILES_OF_JOB)
    throw new ValidationError([{ path: root, message: `names ${places.length} files; at most ${MAX_FILES_OF_JOB}` }]);
  const records = await Promise.all(places.map(({ fileId }) => files.get(accountId, fileId, nowMs)));
  const errors = places.flatMap((place, i) => faultOf(place, records[i], root));
  const bytes = records.reduce((sum, file) => sum + (file?.sizeBytes ?? 0), 0);
  if (errors.length === 0 && bytes > MAX_JOB_FILE_BYTES) {
    const has = formatBytes(bytes);
    const most = formatBytes(MAX_JOB_FILE_BYTES);
    errors.push({ path: root, message: `names files of ${has} together; a job takes ${most}` });
  }
  if (errors.length > 0) throw new ValidationError(errors);
  return [...new Set(places.map(({ fileId }) => fileId))];
}

/** Keeps files for jobs that are stored next. @throws {ValidationError} if one was deleted since it was checked. */
export async function holdJobFiles(
  files: Store["files"],
  accountId: string,
  holds: readonly FileHold[],
  nowMs: number,
): Promise<void> {
  if (holds.length === 0) return;
  const missing = await files.hold(accountId, holds, nowMs);
  if (missing.length > 0)
    throw new ValidationError(missing.map((id) => ({ path: "input", message: `names "${id}", which was deleted` })));
}

/** Frees the files of jobs that `error` refused. What it may have stored keeps them until it ends, or for some minutes. */
export async function freeJobFiles(files: Store["files"], holds: readonly FileHold[], error: unknown): Promise<void> {
  if (holds.length === 0 || !(error instanceof ServiceError) || UNSURE.has(error.code)) return;
  // Then they end by themselves.
  await files.unhold(holds).catch(() => undefined);
}

function faultOf(place: FilePlace, file: FileRecord | undefined, root: string): FieldError[] {
  const path = [root, ...place.path].join(".");
  const message = messageOf(place, file);
  return message === null ? [] : [{ path, message }];
}

function messageOf({ minBytes, maxBytes }: FilePlace, file: FileRecord | undefined): string | null {
  if (file === undefined) return "names no file of this account; upload it with POST /files";
  const { sizeBytes } = file;
  if (sizeBytes < minBytes) return `names a file of ${sizeBytes} bytes; at least ${minBytes} are needed here`;
  if (sizeBytes > maxBytes)
    return `names a file of ${formatBytes(sizeBytes)}; at most ${formatBytes(maxBytes)} are taken here`;
  return null;
}
