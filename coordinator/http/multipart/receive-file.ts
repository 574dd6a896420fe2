import type { IncomingMessage } from "node:http";
import { readFile } from "node:fs/promises";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import type { HttpDeps } from "../http-deps.ts";
import { announcedBytesOf, readForm, type Form, type FormLimits } from "./read-form.ts";
import type { FormFile } from "./write-form-file.ts";

/** A job that runs keeps its file for longer. */
const TEMPORARY_MS = 3_600_000;

interface ReceivingLimits extends Omit<FormLimits, "maxFiles" | "directory"> {
  /** Largest file that is put into a job's row. */
  readonly inlineBytes: number;
}

/** A form with one file, as a job can have it. Disposing of it removes the file, once no job needs it any more. */
export interface ReceivedFile<T> extends AsyncDisposable {
  /** What the check of the form returned. */
  readonly checked: T;
  /** For the place of base64 in a job's input. */
  readonly input: string | { readonly file_id: string };
}

/**
 * Reads a form whose field `file` goes into a job's input: as base64 if it is small, else as a temporary file of the account.
 * @param check throws if form or file are not what is wanted. Nothing is stored before.
 * @throws {ServiceError} those of {@link readForm} and of `check`, `file_budget_exceeded`, `disk_full`. @throws {ValidationError} without the file.
 */
export async function receiveFile<T>(
  { files, log }: Pick<HttpDeps, "files" | "log">,
  accountId: string,
  incoming: IncomingMessage,
  limits: ReceivingLimits,
  check: (form: Form, file: FormFile) => Promise<T>,
): Promise<ReceivedFile<T>> {
  const { inlineBytes, maxFileBytes } = limits;
  const announced = announcedBytesOf(incoming);
  if (announced <= inlineBytes) return receive({});
  return files.receive(accountId, Math.min(announced, maxFileBytes), () => receive({ directory: files.arriving }));

  async function receive(place: Pick<FormLimits, "directory">): Promise<ReceivedFile<T>> {
    await using stack = new AsyncDisposableStack();
    const form = stack.use(await readForm(incoming, { ...limits, ...place, maxFiles: 1 }));
    const [file] = form.files;
    if (file?.field !== "file") throw new ValidationError([{ path: "file", message: "is required, as a file" }]);
    const checked = await check(form, file);
    const input = file.sizeBytes <= inlineBytes ? (await readFile(file.path)).toString("base64") : await store(file);
    if (typeof input !== "string") stack.defer(() => remove(input.file_id));
    const kept = stack.move();
    return { checked, input, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  }

  async function store({ path, filename, sizeBytes, sha256 }: FormFile): Promise<{ file_id: string }> {
    const life = { purpose: "user_data" as const, expiresAfterMs: TEMPORARY_MS };
    const { id } = await files.add(accountId, { path, filename, sizeBytes, sha256, ...life });
    return { file_id: id };
  }

  async function remove(id: string): Promise<void> {
    try {
      await files.remove(accountId, id);
    } catch (error) {
      // It expires: a job whose client has left may still be on its way to its end.
      if (!(error instanceof ServiceError)) log.error({ err: error }, "Could not remove a temporary file");
    }
  }
}
