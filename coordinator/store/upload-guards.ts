import { ServiceError } from "../../shared/errors.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { assertFileFits } from "./file-budget.ts";
import type { FileUsage } from "./file-store.ts";
import type { PartLimits, UploadPart, UploadRecord } from "./upload-store.ts";

/** What an upload has. */
export interface PartUsage {
  readonly parts: number;
  readonly bytes: number;
}

/** @throws {ServiceError} `upload_not_pending`, also for one that does not exist any more. */
export function assertPending(
  upload: Pick<UploadRecord, "state" | "expiresAtMs"> | undefined,
  nowMs: number,
): asserts upload is UploadRecord {
  const state = upload === undefined || nowMs >= upload.expiresAtMs ? "expired" : upload.state;
  if (state === "pending") return;
  throw new ServiceError("upload_not_pending", `The upload is ${state}; start a new one`);
}

/** @throws {ServiceError} for a part that does not fit into its upload, or not beside what the account has. */
export function assertPartFits(
  part: UploadPart,
  upload: Pick<UploadRecord, "sizeBytes">,
  has: PartUsage,
  account: FileUsage,
  { budget, maxParts }: PartLimits,
): void {
  if (has.parts >= maxParts)
    throw new ServiceError("too_many_parts", `The upload has ${maxParts} parts, as many as it may; send larger ones`);
  if (has.bytes + part.sizeBytes > upload.sizeBytes) {
    const [size, already, all] = [part.sizeBytes, has.bytes, upload.sizeBytes].map(formatBytes);
    const message = `The upload was announced with ${all} and has ${already}; a part of ${size} is too much`;
    throw new ServiceError("payload_too_large", message);
  }
  assertFileFits({ ...account, files: 0 }, part.sizeBytes, budget);
}

/** @throws {ServiceError} `file_budget_exceeded` */
export function assertFewPending(pending: number, maxPending: number): void {
  if (pending < maxPending) return;
  const message = `The account has ${pending} uploads under way, as many as it may; complete or cancel some`;
  throw new ServiceError("file_budget_exceeded", message);
}
