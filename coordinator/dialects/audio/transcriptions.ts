import { open, readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { z } from "@hono/zod-openapi";
import { WavError, wavSeconds } from "../../../shared/audio/wav-file.ts";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { ONNX_OUTPUTS } from "../../../shared/onnx-task.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import type { HttpDeps } from "../../http/http-deps.ts";
import { validate } from "../../http/middleware/body.ts";
import { announcedBytesOf, type Form, type FormFile, readForm } from "../../http/multipart/read-form.ts";
import { checkParameters } from "../../http/openai/parameters.ts";
import { nameIgnored, routeGroup } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { runForOutput } from "../../http/streaming/whole-output.ts";
import { type ClientCall, requestContextOf } from "../../http/streaming/request-context.ts";
import {
  MAX_AUDIO_BYTES,
  MAX_INLINE_AUDIO_BYTES,
  presentTranscription,
  subtitlesOf,
  type TranscriptionFields,
  transcriptionFieldsSchema,
  transcriptionFormSchema,
  transcriptionSchema,
  translationFieldsSchema,
  translationFormSchema,
} from "./transcription-schemas.ts";

const FORM_LIMITS = { maxFields: 32, maxFieldBytes: 4_096, maxFileBytes: MAX_AUDIO_BYTES, maxFiles: 1 };
/** Maximum bytes of a WAV file's header, with the metadata that programs write before the samples. */
const HEAD_BYTES = 65_536;
const TOO_LARGE = `The recording is larger than ${MAX_AUDIO_BYTES} bytes (about 13 minutes of 16 kHz, 16-bit WAV); send it in parts`;
/** Lifetime of a temporary file. A job that is still running keeps its file for longer. */
const TEMPORARY_MS = 3_600_000;
const PLAIN_TEXT = { "Content-Type": "text/plain; charset=utf-8" };

const SHARED = {
  about: "A transcription Cargo processes the recording as one job. If the client disconnects, the job is cancelled.",
  access: "write",
  responses: {
    200: {
      description: "The text, as JSON or in the requested text format",
      content: {
        ...json(transcriptionSchema, "").content,
        "text/plain": { schema: z.string().describe("With response_format text, srt and vtt") },
      },
    },
  },
  fails: [402, 404, 409],
} as const;

export const transcriptionRoutes = routeGroup("/audio", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("/transcriptions", {
    id: "createTranscription",
    is: "Transcribe speech",
    form: transcriptionFormSchema,
    ...SHARED,
  })((call) => run(deps, call, "transcribe", transcriptionFieldsSchema));

  routes.post("/translations", {
    id: "createTranslation",
    is: "Translate speech into English text",
    form: translationFormSchema,
    ...SHARED,
  })((call) => run(deps, call, "translate", translationFieldsSchema));
});

async function run(
  deps: HttpDeps,
  { c, identity }: Pick<ClientCall, "c" | "identity">,
  task: "transcribe" | "translate",
  schema: z.ZodType<TranscriptionFields>,
): Promise<Response | z.infer<typeof transcriptionSchema> | null> {
  const { accountId } = identity;
  await using received = await receiveAudio(deps, accountId, c.env.incoming, async (form, file) => {
    const given = valuesOf(form);
    const ignored = checkParameters(schema, given, "openai");
    const fields = validate(schema, given);
    const cargo = await findModelFor("transcription", deps.catalog, fields.model, accountId);
    return { fields, ignored, cargo, seconds: await readDuration(file) };
  });
  const { fields, ignored, cargo, seconds } = received.checked;
  nameIgnored(c, ignored);
  const { response_format: format, language } = fields;
  const hasWords = fields.timestamp_granularities?.[0] === "word";
  const hasTimes = format === "srt" || format === "vtt" || format === "verbose_json";
  const input = {
    audio: received.input,
    ...(task === "translate" ? { task } : {}),
    ...(language === undefined ? {} : { language }),
    ...(hasTimes ? { timestamps: hasWords ? "word" : true } : {}),
  };
  const client = requestContextOf({ c, identity, ignored, body: fields });
  const made = await runForOutput(deps, client, { slug: cargo.slug, input, fieldOf });
  if (made === null) return null;
  const result = ONNX_OUTPUTS["automatic-speech-recognition"].safeParse(made.output).data;
  if (result === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a transcription");
  const transcript = { result, task, language, hasWords, seconds };
  if (format === "srt" || format === "vtt") return c.body(subtitlesOf(transcript, format), 200, PLAIN_TEXT);
  if (format === "text") return c.body(`${result.text.trim()}\n`, 200, PLAIN_TEXT);
  return presentTranscription(transcript, format === "verbose_json");
}

/** Returns the form's fields by their names in JSON. A field `a[]`, or one that was sent twice, becomes a list. */
function valuesOf({ fields, files }: Form): Readonly<Record<string, unknown>> {
  const values = [...fields].map(([name, all]) => {
    const isList = name.endsWith("[]");
    return [isList ? name.slice(0, -"[]".length) : name, isList || all.length > 1 ? all : all[0]];
  });
  return Object.fromEntries([...values, ...files.map(({ field, filename }) => [field, filename])]);
}

/** Returns the duration of a WAV file. @throws {ValidationError} naming `file` */
async function readDuration({ path, sizeBytes }: FormFile): Promise<number> {
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  try {
    return wavSeconds(buffer.subarray(0, bytesRead), sizeBytes);
  } catch (error) {
    if (!(error instanceof WavError)) throw error;
    throw new ValidationError([{ path: "file", message: `${error.message}; only WAV files are supported` }]);
  }
}

function fieldOf(path: string): string {
  if (path === "audio") return "file";
  return path === "timestamps" ? "timestamp_granularities" : path;
}

/** A form whose file is ready for a job's input. Disposing of the form removes the file once no job needs it. */
interface ReceivedFile<T> extends AsyncDisposable {
  readonly checked: T;
  /** Value for the base64 field of a job's input. */
  readonly input: string | { readonly file_id: string };
}

/**
 * Reads a form whose field `file` goes into a job's input: as base64 if it is small, otherwise as a temporary file.
 * @param check throws if the form or the file is not acceptable. Nothing is stored before this check
 * @throws {ServiceError} as {@link readForm} and `check`, `file_budget_exceeded`, `disk_full`
 * @throws {ValidationError} for a form without the file
 */
async function receiveAudio<T>(
  { files, log }: HttpDeps,
  accountId: string,
  incoming: IncomingMessage,
  check: (form: Form, file: FormFile) => Promise<T>,
): Promise<ReceivedFile<T>> {
  const announced = announcedBytesOf(incoming);
  if (announced <= MAX_INLINE_AUDIO_BYTES) return receive({});
  const maxBytes = Math.min(announced, MAX_AUDIO_BYTES);
  return files.receive(accountId, maxBytes, () => receive({ directory: files.arriving }));

  async function receive(location: { directory?: string }): Promise<ReceivedFile<T>> {
    await using stack = new AsyncDisposableStack();
    const reading = readForm(incoming, { ...FORM_LIMITS, ...location }).catch((cause: unknown) => {
      const isTooLarge = cause instanceof ServiceError && cause.code === "payload_too_large";
      throw isTooLarge ? new ServiceError(cause.code, TOO_LARGE, { cause }) : cause;
    });
    const form = stack.use(await reading);
    const [file] = form.files;
    if (file?.field !== "file")
      throw new ValidationError([{ path: "file", message: "is required and must be a file" }]);
    const checked = await check(form, file);
    const { sizeBytes, path } = file;
    const input = sizeBytes <= MAX_INLINE_AUDIO_BYTES ? (await readFile(path)).toString("base64") : await store(file);
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
      // A ServiceError is not logged: the job of a disconnected client may still use the file, which then expires.
      if (!(error instanceof ServiceError)) log.error({ err: error }, "Could not remove a temporary file");
    }
  }
}
