import { AtollError, ConfigurationError } from "./errors.ts";
import type { Http } from "./http.ts";
import type { File, Upload } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";

export interface NewFile {
  readonly content: Blob;
  readonly filename: string;
  /** Default: `user_data`. */
  readonly purpose?: File["purpose"];
  /** From 3,600 s to 30 days; else as long as the coordinator keeps files. */
  readonly expiresAfterS?: number;
}

export interface LargeFile extends NewFile {
  /** Of an upload that was begun for this very file; default: a new one. */
  readonly uploadId?: string;
  /** Default: 8 MiB, or as much as 1,000 parts need. At most 64 MiB. An upload that goes on keeps the size of its parts. */
  readonly partBytes?: number;
  /** Told before each part, with how much has arrived. */
  readonly onUpload?: (state: { readonly uploadId: string; readonly sentBytes: number }) => void;
}

const MIB = 1_048_576;
const PART_BYTES = 8 * MIB;
const MAX_PART_BYTES = 64 * MIB;
const MAX_PARTS = 1_000;
/** A part may take as long as the coordinator waits for it; a file is put together at the speed of its disk. */
const PART = { defaultTimeoutMs: 120_000, isIdempotent: true };
const COMPLETE = { defaultTimeoutMs: 600_000, isIdempotent: true };

/** Parts one after the other; those that the upload has already are known by their SHA-256 and not sent. */
export async function uploadInParts(http: Http, file: LargeFile, options: CallOptions = {}): Promise<File> {
  const { content, partBytes: wanted = Math.max(PART_BYTES, Math.ceil(content.size / MAX_PARTS)), onUpload } = file;
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > MAX_PART_BYTES)
    throw new ConfigurationError(`partBytes must be an integer from 1 to ${MAX_PART_BYTES}`);
  const upload = await openUpload(http, file, options);
  const { id } = upload;
  if (upload.file !== null && upload.file !== undefined) return upload.file;
  // The last part is smaller, and comes last.
  const partBytes = upload.parts.reduce((most, { bytes }) => Math.max(most, bytes), 0) || wanted;
  const arrived = new Map(upload.parts.map((part) => [part.sha256, part.id]));
  const part_ids: string[] = [];
  for (let from = 0; from < content.size; from += partBytes) {
    onUpload?.({ uploadId: id, sentBytes: from });
    options.signal?.throwIfAborted();
    const part = content.slice(from, from + partBytes);
    const known = arrived.size === 0 ? undefined : arrived.get(await sha256Of(part));
    part_ids.push(known ?? (await sendPart(http, id, part, options)));
  }
  const parts = { path: { id }, body: { part_ids } };
  const done = await http.call("post", "/uploads/{id}/complete", parts, options, COMPLETE);
  if (done.file !== null && done.file !== undefined) return done.file;
  throw new AtollError("The upload was completed, and its file deleted since", { code: "not_found" });
}

async function openUpload(http: Http, file: LargeFile, options: CallOptions): Promise<Upload> {
  const { content, filename, purpose = "user_data", expiresAfterS, uploadId } = file;
  if (uploadId === undefined) {
    const expires_after = { anchor: "created_at" as const, seconds: expiresAfterS ?? 0 };
    const body = { bytes: content.size, filename, purpose: purpose as Upload["purpose"] };
    return http.call(
      "post",
      "/uploads",
      { body: expiresAfterS === undefined ? body : { ...body, expires_after } },
      options,
    );
  }
  const upload = await http.call("get", "/uploads/{id}", { path: { id: uploadId } }, options);
  if (upload.bytes === content.size) return upload;
  throw new ConfigurationError(
    `Upload ${uploadId} is of a file of ${upload.bytes} bytes; this one has ${content.size}`,
  );
}

async function sendPart(http: Http, id: string, part: Blob, options: CallOptions): Promise<string> {
  const form = new FormData();
  form.append("data", part, "part");
  return (await http.call("post", "/uploads/{id}/parts", { path: { id } }, options, { ...PART, form })).id;
}

async function sha256Of(part: Blob): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await part.arrayBuffer()));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
