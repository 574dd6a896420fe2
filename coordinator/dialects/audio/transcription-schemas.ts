import { z } from "@hono/zod-openapi";
import { trustFields } from "../../http/schemas/trust-fields.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { ONNX_OUTPUTS } from "../../../shared/onnx-task.ts";
import { refused, requestObject } from "../../../shared/request-object.ts";

/** Maximum bytes of a recording that is sent inside a job's input, which transcription Cargos accept as base64. */
export const MAX_INLINE_AUDIO_BYTES = 187_500;
/** Maximum bytes of a recording, as in OpenAI's API. */
export const MAX_AUDIO_BYTES = 25 * MIB;

const SPEAKERS = refused("no runtime identifies speakers", [[]]);
const common = {
  file: z.string().openapi({
    format: "binary",
    description: `A WAV file of at most ${MAX_AUDIO_BYTES / MIB} MB, about 13 minutes at 16 kHz and 16 bit`,
  }),
  model: z
    .string()
    .min(1)
    .optional()
    .describe("Slug or alias of a transcription Cargo. Default: the setting `default_transcription_cargo`"),
  response_format: z.enum(["json", "text", "srt", "vtt", "verbose_json"]).default("json"),
  ...trustFields,
  prompt: refused("no runtime supports a prompt for transcription", [""]),
  temperature: refused("the most likely text is always returned", ["0", "0.0"]),
};
const granularitiesSchema = z
  .array(z.enum(["segment", "word"]))
  .max(1, "must have one value: segment or word")
  .optional()
  .describe(
    "Kind of timestamps. Default: `segment`. Requires `verbose_json`; a Cargo without timestamps refuses it with 422",
  );

const transcriptionMembers = {
  ...common,
  language: z
    .string()
    .min(2)
    .max(20)
    .optional()
    .describe("Code or English name of the spoken language. By default, the Cargo detects the language"),
  stream: refused("transcriptions are returned only when complete", ["false"]),
  chunking_strategy: refused("Islands split long recordings automatically", ["auto"]),
  include: refused("transcriptions have no log probabilities", [[]]),
  keywords: refused("no runtime supports keywords", [[]]),
  languages: refused("use `language`", [[]]),
  known_speaker_names: SPEAKERS,
  known_speaker_references: SPEAKERS,
};
/** Fields of the form of `POST /audio/transcriptions` by their names in JSON. Source: OpenAI's API. */
export const transcriptionFieldsSchema = requestObject({
  ...transcriptionMembers,
  timestamp_granularities: granularitiesSchema,
}).refine(
  ({ timestamp_granularities: times, response_format: format }) => times === undefined || format === "verbose_json",
  { path: ["timestamp_granularities"], message: "requires response_format verbose_json" },
);
export const translationFieldsSchema = requestObject(common);
export type TranscriptionFields = z.infer<typeof transcriptionFieldsSchema>;

export const transcriptionFormSchema = requestObject({
  ...transcriptionMembers,
  "timestamp_granularities[]": granularitiesSchema,
}).openapi("TranscriptionForm");
export const translationFormSchema = translationFieldsSchema.openapi("TranslationForm");

const usageSchema = z.object({ type: z.literal("duration"), seconds: z.int() });
const partSchema = { start: z.number(), end: z.number() };
export const transcriptionSchema = z
  .object({
    text: z.string(),
    task: z
      .enum(["transcribe", "translate"])
      .optional()
      .describe("Task; present only with `verbose_json`, like `language`, `duration`, `segments` and `words`"),
    language: z.string().optional().describe("The requested language"),
    duration: z.number().optional().describe("Duration of the recording in seconds"),
    segments: z.array(z.object({ id: z.int(), ...partSchema, text: z.string() })).optional(),
    words: z.array(z.object({ word: z.string(), ...partSchema })).optional(),
    usage: usageSchema,
  })
  .openapi("Transcription");

export interface Transcript {
  readonly result: z.infer<(typeof ONNX_OUTPUTS)["automatic-speech-recognition"]>;
  readonly task: "transcribe" | "translate";
  readonly language: string | undefined;
  readonly hasWords: boolean;
  readonly seconds: number;
}

export function presentTranscription(transcript: Transcript, isVerbose: boolean): z.infer<typeof transcriptionSchema> {
  const { result, task, language, hasWords, seconds } = transcript;
  const text = result.text.trim();
  const usage = { type: "duration" as const, seconds: Math.ceil(seconds) };
  if (!isVerbose) return { text, usage };
  const parts = partsOf(transcript);
  const times = hasWords
    ? { words: parts.map(({ start, end, text: word }) => ({ word, start, end })) }
    : { segments: parts.map((part, id) => ({ id, ...part })) };
  return { task, ...(language === undefined ? {} : { language }), duration: seconds, text, ...times, usage };
}

/** Formats a transcript as subtitles. Source: the SubRip format; W3C, "WebVTT". */
export function subtitlesOf(transcript: Transcript, format: "srt" | "vtt"): string {
  const point = format === "srt" ? "," : ".";
  const cues = partsOf(transcript).map(({ start, end, text }, index) => {
    const number = format === "srt" ? `${index + 1}\n` : "";
    return `${number}${timeOf(start, point)} --> ${timeOf(end, point)}\n${text}\n\n`;
  });
  return `${format === "vtt" ? "WEBVTT\n\n" : ""}${cues.join("")}`;
}

function partsOf({ result, seconds }: Transcript): { start: number; end: number; text: string }[] {
  return (result.chunks ?? []).map(({ start_s, end_s, text }) => ({
    start: start_s,
    end: end_s ?? Math.max(start_s, seconds),
    text: text.trim(),
  }));
}

function timeOf(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1_000);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const clock = `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}`;
  return `${clock}${point}${String(ms % 1_000).padStart(3, "0")}`;
}
