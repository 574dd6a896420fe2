import type { IncomingMessage } from "node:http";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import type { BusboyConfig, BusboyFileStream, BusboyInstance } from "@fastify/busboy";
import { type Clock, systemClock } from "../../../shared/clock.ts";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";

const MAX_FIELD_NAME_CHARS = 100;
const BAD_NAME = `Each part of the form needs a name of at most ${MAX_FIELD_NAME_CHARS} characters`;
const MAX_HEADERS_OF_PART = 20;
const MAX_HEADER_BYTES_OF_PART = 4_096;
/** Delay between the response to a stalled client and the end of its connection, so that the response is sent. */
const CLOSE_DELAY_MS = 1_000;
/** Time without a byte from the client after which the form is refused. */
const STALL_MS = 30_000;

export interface FormLimits {
  /** Maximum number of values of all fields together. */
  readonly maxFields: number;
  readonly maxFieldBytes: number;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  /** Folder for the temporary files. Default: the operating system's folder. */
  readonly directory?: string;
  readonly stallMs?: number;
  readonly clock?: Pick<Clock, "schedule">;
}

/** A received form. Disposing of it removes its temporary files. */
export interface Form extends AsyncDisposable {
  /** Values by field name, in the order of the form. Names like `include[]` keep their brackets. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly files: readonly FormFile[];
}

/**
 * Reads the fields of a `multipart/form-data` body into memory, and its files to disk, no faster than the disk accepts
 * them. No file remains after a failure.
 * @throws {ServiceError} `bad_request` for another content type, a malformed body, or a client that disconnected or
 *   sent nothing for `stallMs`; `payload_too_large`; `disk_full`.
 * @throws {ValidationError} for too many fields or files, or a value that is too long.
 */
export async function readForm(incoming: IncomingMessage, limits: FormLimits): Promise<Form> {
  const contentType = incoming.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(contentType))
    throw new ServiceError(
      "bad_request",
      'The body must be a form: Content-Type "multipart/form-data" with its boundary',
    );
  const { maxFields, maxFieldBytes, maxFiles, maxFileBytes } = limits;
  const announcedBytes = Number(incoming.headers["content-length"] ?? 0);
  const maxFrameBytes = (maxFields + maxFiles + 1) * 2 * MAX_HEADER_BYTES_OF_PART;
  if (announcedBytes > maxFiles * maxFileBytes + maxFields * maxFieldBytes + maxFrameBytes)
    throw tooLargeError(maxFileBytes);
  const busboy = await openParser({
    headers: { "content-type": contentType },
    limits: {
      fieldSize: maxFieldBytes,
      fields: maxFields,
      files: maxFiles,
      fileSize: maxFileBytes,
      parts: maxFields + maxFiles,
      headerPairs: MAX_HEADERS_OF_PART,
      headerSize: MAX_HEADER_BYTES_OF_PART,
    },
  });
  const directory = await mkdtemp(join(limits.directory ?? tmpdir(), "form-"));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const { fields, files } = await readParts(incoming, busboy, directory, limits);
    return { fields, files, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Returns the size of the body in bytes; Infinity if the client does not announce the size. */
export function announcedBytesOf(incoming: IncomingMessage): number {
  return Number(incoming.headers["content-length"] ?? Infinity);
}

function isName(name: string | undefined): name is string {
  return name !== undefined && name !== "" && name.length <= MAX_FIELD_NAME_CHARS;
}

/** Creates the parser of a form. @throws {ServiceError} `bad_request` if the content type has no boundary. */
async function openParser(config: BusboyConfig): Promise<BusboyInstance> {
  const { Busboy: Parser } = await import("@fastify/busboy");
  try {
    return new Parser(config);
  } catch (cause) {
    throw new ServiceError(
      "bad_request",
      "The Content-Type of the form has no boundary. Send multipart/form-data with its boundary",
      { cause },
    );
  }
}

/** Reads all fields and files. The promise settles when no file is being written any more. */
async function readParts(
  incoming: IncomingMessage,
  busboy: BusboyInstance,
  directory: string,
  limits: FormLimits,
): Promise<Pick<Form, "fields" | "files">> {
  const { maxFields, maxFieldBytes, maxFiles, maxFileBytes } = limits;
  const fields = new Map<string, string[]>();
  const files: Promise<FormFile>[] = [];
  /** Aborts with the first error, which also ends the writing of files. */
  const failed = new AbortController();
  const fail = (error: Error): void => failed.abort(error);
  const refuse = (path: string, message: string): void => fail(new ValidationError([{ path, message }]));
  busboy.on("field", (name: string | undefined, value: string, _isNameCut: boolean, isValueCut: boolean) => {
    if (!isName(name)) return refuse("", BAD_NAME);
    if (isValueCut) return refuse(name, `must have at most ${maxFieldBytes} bytes`);
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  });
  busboy.on("file", (field: string | undefined, stream: BusboyFileStream, filename: string | undefined, _, type) => {
    const path = join(directory, String(files.length));
    const facts = { field: field ?? "", filename: filename ?? "", contentType: type, path };
    const file = writeFormFile(stream, facts, maxFileBytes, failed.signal);
    file.catch(fail);
    files.push(file);
    if (!isName(field)) refuse("", BAD_NAME);
  });
  busboy.on("partsLimit", () => refuse("", `The form has more than ${maxFields + maxFiles} parts`));
  busboy.on("fieldsLimit", () => refuse("", `The form has more than ${maxFields} fields`));
  busboy.on("filesLimit", () => refuse("", `The form has more than ${maxFiles} files`));
  busboy.on("error", (cause: unknown) =>
    fail(new ServiceError("bad_request", "The body is not a well-formed multipart form", { cause })),
  );
  try {
    await pipeToParser(incoming, busboy, limits, failed);
    return { fields, files: await Promise.all(files) };
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(files);
    // The reason is the first error, which is the cause of all others.
    throw failed.signal.reason;
  }
}

/** Passes the body to the parser until it is complete. Stops reading the connection at the first error. */
function pipeToParser(
  incoming: IncomingMessage,
  busboy: BusboyInstance,
  { clock = systemClock, stallMs = STALL_MS }: Pick<FormLimits, "clock" | "stallMs">,
  failed: AbortController,
): Promise<void> {
  const { signal } = failed;
  return new Promise<void>((resolve, reject) => {
    const stalled = (): void => {
      const seconds = Math.round(stallMs / 1_000);
      fail(new ServiceError("bad_request", `The client sent no form data for ${seconds} s. Send the form again`));
      clock.schedule(CLOSE_DELAY_MS, () => incoming.socket.destroySoon());
    };
    let timer = clock.schedule(stallMs, stalled);
    const wait = (): void => {
      timer.cancel();
      timer = clock.schedule(stallMs, stalled);
    };
    const settle = (act: () => void): void => {
      timer.cancel();
      incoming.off("data", onData).off("end", onEnd).off("error", onDisconnect).off("close", onDisconnect);
      busboy.off("drain", onDrain).off("finish", onFinish);
      signal.removeEventListener("abort", onFailed);
      act();
    };
    const onFailed = (): void =>
      settle(() => {
        incoming.pause();
        busboy.destroy();
        reject(signal.reason as Error);
      });
    const fail = (error: Error): void => failed.abort(error);
    const onData = (chunk: Buffer): void => {
      wait();
      if (busboy.write(chunk)) return;
      // The disk is slow and the client is not at fault, so the stall timer stops.
      timer.cancel();
      incoming.pause();
    };
    const onDrain = (): void => {
      wait();
      incoming.resume();
    };
    const onEnd = (): void => {
      timer.cancel();
      busboy.end();
    };
    const onDisconnect = (): void => {
      if (incoming.complete) return;
      const message = "The connection closed before the whole form arrived. Send the form again";
      fail(new ServiceError("bad_request", message));
    };
    const onFinish = (): void => settle(resolve);
    signal.addEventListener("abort", onFailed);
    busboy.on("drain", onDrain).on("finish", onFinish);
    // The events were already emitted: the client disconnected while its key was looked up.
    if (incoming.destroyed && !incoming.complete) return onDisconnect();
    incoming.on("data", onData).on("end", onEnd).on("error", onDisconnect).on("close", onDisconnect);
  });
}

function tooLargeError(maxBytes: number): ServiceError {
  return new ServiceError("payload_too_large", `The file is too large; at most ${maxBytes} bytes are allowed`);
}

export interface FormFile {
  readonly field: string;
  /** File name that the client gave, without folders; empty if it gave none. Never used as a path here. */
  readonly filename: string;
  readonly contentType: string;
  /** Path of the temporary file. To keep the file, move it before the form is disposed of. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Error codes of a full disk and of an exhausted disk quota. */
const DISK_FULL_CODES = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Writes `stream` to a new file and returns its size and hash. When `signal` aborts, rejects with its reason.
 * @throws {ServiceError} `payload_too_large` if the parser cut the stream at its limit; `disk_full`; `bad_request` if
 * the stream breaks.
 */
async function writeFormFile(
  stream: BusboyFileStream,
  file: Omit<FormFile, "sizeBytes" | "sha256">,
  maxBytes: number,
  signal: AbortSignal,
): Promise<FormFile> {
  const stop = (): void => void stream.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  stream.once("limit", () => void stream.destroy(tooLargeError(maxBytes)));
  // The parser emits the error of a truncated body before the loop below listens for it.
  stream.on("error", () => undefined);
  try {
    await using handle = await open(file.path, "wx", 0o600);
    const hash = createHash("sha256");
    let sizeBytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      for (let rest = chunk; rest.length > 0;) rest = rest.subarray((await handle.write(rest)).bytesWritten);
    }
    return { ...file, sizeBytes, sha256: hash.digest("hex") };
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined)
      throw new ServiceError("bad_request", "The form ends in the middle of a file. Send it again", { cause });
    if (DISK_FULL_CODES.has(code))
      throw new ServiceError(
        "disk_full",
        "The coordinator's disk is too full for the file. Its operator must free space",
        { cause },
      );
    throw cause;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
