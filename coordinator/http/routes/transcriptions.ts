import { readFile } from "node:fs/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { readWav, WavError } from "../../../shared/audio/wav-file.ts";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import type { Identity } from "../../accounts/identity.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { findModel } from "../../catalog/find-model.ts";
import { modelKindOf } from "../../catalog/model-kind.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpEnv } from "../http-deps.ts";
import { validate } from "../middleware/body.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { readForm, type Form } from "../multipart/read-form.ts";
import { checkParameters } from "../openai/parameters.ts";
import { TRANSCRIPTION_PARAMETERS, TRANSLATION_PARAMETERS } from "../openai/transcription-parameters.ts";
import { failures, json } from "../schemas/responses.ts";
import {
  heardOf,
  MAX_SOUND_BYTES,
  presentTranscription,
  subtitlesOf,
  transcriptionFieldsSchema,
  transcriptionFormSchema,
  transcriptionSchema,
  translationFieldsSchema,
  translationFormSchema,
  type TranscriptionFields,
} from "../schemas/transcription-schemas.ts";
import { wholeOutput } from "../streaming/whole-output.ts";
import { waitingClientOf } from "../streaming/waiting-client.ts";

const FORM_LIMITS = { maxFields: 32, maxFieldBytes: 4_096, maxFiles: 1, maxFileBytes: MAX_SOUND_BYTES };
const LONG_SOUND = `Sound of at most ${MAX_SOUND_BYTES} bytes fits into a job, about 6 s as WAV of 16 kHz and 16 bit; send it in parts`;
const PLAIN = { "Content-Type": "text/plain; charset=utf-8" };

const responses = {
  200: {
    ...json(transcriptionSchema, "The text, as JSON or by itself with its times"),
    content: {
      ...json(transcriptionSchema, "").content,
      "text/plain": { schema: z.string().openapi({ description: "With response_format text, srt and vtt" }) },
    },
  },
  ...failures(402, 404),
};
const ABOUT =
  "In OpenAI's shape, by a Cargo that writes speech down: one job. Like a chat it waits for an Island and is cancelled when the client disconnects.";

const transcriptionRoute = createRoute({
  operationId: "createTranscription",
  method: "post",
  path: `${API_BASE}/audio/transcriptions`,
  summary: "Write speech down",
  description: ABOUT,
  request: { body: { required: true, content: { "multipart/form-data": { schema: transcriptionFormSchema } } } },
  responses,
});

const translationRoute = createRoute({
  operationId: "createTranslation",
  method: "post",
  path: `${API_BASE}/audio/translations`,
  summary: "Write speech down in English",
  description: ABOUT,
  request: { body: { required: true, content: { "multipart/form-data": { schema: translationFormSchema } } } },
  responses,
});

export function serveTranscriptions(app: HttpApp, deps: HttpDeps): void {
  serveScoped(app, deps, "write", transcriptionRoute, async ({ c, identity }) => {
    await using form = await soundForm(c);
    const given = valuesOf(form);
    checkParameters(TRANSCRIPTION_PARAMETERS, given);
    // Awaited: the form removes its file at the end of this function.
    return await answer(deps, c, identity, {
      form,
      fields: validate(transcriptionFieldsSchema, given),
      task: "transcribe",
    });
  });
  serveScoped(app, deps, "write", translationRoute, async ({ c, identity }) => {
    await using form = await soundForm(c);
    const given = valuesOf(form);
    checkParameters(TRANSLATION_PARAMETERS, given);
    return await answer(deps, c, identity, {
      form,
      fields: validate(translationFieldsSchema, given),
      task: "translate",
    });
  });
}

interface Asked {
  readonly form: Form;
  readonly fields: TranscriptionFields;
  readonly task: "transcribe" | "translate";
}

async function answer(
  deps: HttpDeps,
  c: Context<HttpEnv>,
  identity: Identity,
  { form, fields, task }: Asked,
): Promise<Response> {
  const { response_format: format, language } = fields;
  const cargo = await hearingCargo(deps, fields.model ?? deps.catalog.defaultSlug("transcription"), identity.accountId);
  const { audio, seconds } = await soundOf(form);
  const hasWords = fields.timestamp_granularities?.[0] === "word";
  const hasTimes = format === "srt" || format === "vtt" || format === "verbose_json";
  const input = {
    audio,
    ...(task === "translate" ? { task } : {}),
    ...(language === undefined ? {} : { language }),
    ...(hasTimes ? { timestamps: hasWords ? "word" : true } : {}),
  };
  const client = waitingClientOf(identity, c.env.outgoing);
  const made = await wholeOutput(deps, client, { slug: cargo.slug, input, fieldOf });
  if (made === null) return RESPONSE_ALREADY_SENT;
  const heard = heardOf(made.output);
  if (heard === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a text that was heard");
  const transcript = { heard, task, language, hasWords, seconds };
  if (format === "srt" || format === "vtt") return c.body(subtitlesOf(transcript, format), 200, PLAIN);
  if (format === "text") return c.body(`${heard.text.trim()}\n`, 200, PLAIN);
  return c.json(presentTranscription(transcript, format === "verbose_json"));
}

/** @throws {ServiceError} `payload_too_large` and those of `readForm`. */
async function soundForm(c: Context<HttpEnv>): Promise<Form> {
  try {
    return await readForm(c.env.incoming, FORM_LIMITS);
  } catch (cause) {
    if (cause instanceof ServiceError && cause.code === "payload_too_large")
      throw new ServiceError("payload_too_large", LONG_SOUND, { cause });
    throw cause;
  }
}

/** Fields of the form by their names in JSON: `a[]`, or one that was sent twice, is a list. */
function valuesOf({ fields, files }: Form): Readonly<Record<string, unknown>> {
  const values = [...fields].map(([name, all]) => {
    const isList = name.endsWith("[]");
    return [isList ? name.slice(0, -"[]".length) : name, isList || all.length > 1 ? all : all[0]];
  });
  return Object.fromEntries([...values, ...files.map(({ field, filename }) => [field, filename])]);
}

/** The file as base64. @throws {ValidationError} naming `file`. */
async function soundOf({ files }: Form): Promise<{ audio: string; seconds: number }> {
  const [file] = files;
  if (file?.field !== "file") throw new ValidationError([{ path: "file", message: "is required, as a file" }]);
  const bytes = await readFile(file.path);
  try {
    const { samples, sampleRateHz } = readWav(bytes);
    return { audio: bytes.toString("base64"), seconds: samples.length / sampleRateHz };
  } catch (error) {
    if (!(error instanceof WavError)) throw error;
    throw new ValidationError([{ path: "file", message: `${error.message}; other formats than WAV are not decoded` }]);
  }
}

/** The request's field for a path of the job's input. */
function fieldOf(path: string): string {
  if (path === "audio") return "file";
  return path === "timestamps" ? "timestamp_granularities" : path;
}

/** @throws {ServiceError} `cargo_not_found`, also for a Cargo that does not write speech down. */
async function hearingCargo(
  { catalog }: Pick<HttpDeps, "catalog">,
  name: string,
  accountId: string,
): Promise<CatalogEntry> {
  const cargo = await findModel(catalog, name, accountId);
  if (cargo !== undefined && modelKindOf(cargo) === "transcription") return cargo;
  throw new ServiceError("cargo_not_found", `There is no Cargo "${name}" that writes speech down`);
}
