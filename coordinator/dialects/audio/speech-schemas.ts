import { z } from "@hono/zod-openapi";
import { refused, requestObject } from "../../../shared/request-object.ts";
import { trustFields } from "../../http/schemas/trust-fields.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";

const SPEECH_FORMATS = ["mp3", "wav", "pcm"] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];
const MAX_INPUT_CHARS = 4_096;
/** Maximum characters of one job, so that its WAV file, about a minute at 44.1 kHz, fits into one protocol frame. */
const MAX_PIECE_CHARS = 800;
const DEFAULT_VOICE = "default";

/** Body of a speech request. Source: OpenAI's API. */
export const speechBodySchema = requestObject({
  input: z
    .string()
    .max(MAX_INPUT_CHARS)
    .refine((text) => text.trim() !== "", "must not be empty")
    .describe("Text to speak. A long text is split between sentences into several jobs"),
  model: z
    .string()
    .min(1)
    .nullish()
    .describe("Slug or alias of a speech Cargo. Default: the setting `default_speech_cargo`"),
  voice: z
    .string("must be a voice name")
    .min(1)
    .nullish()
    .describe(
      "A voice of the Cargo. Any other voice, including those of OpenAI, is refused with 422. Default: `default`, the Cargo's first voice",
    ),
  speed: z
    .number()
    .min(0.25)
    .max(4)
    .nullish()
    .describe("Speed of the speech. Default: 1. A Cargo with only one speed refuses any other value with 422"),
  response_format: z
    .enum(SPEECH_FORMATS, `must be one of ${SPEECH_FORMATS.join(", ")}; other formats are not supported`)
    .nullish()
    .describe("Audio format. Default: `mp3`. `pcm` is 24 kHz, 16 bit, mono, little-endian"),
  stream_format: z.enum(["audio", "sse"]).nullish().describe("Default `audio`"),
  ...trustFields,
  instructions: refused("no runtime supports voice instructions", [""]),
}).openapi("SpeechRequest");
export type SpeechBody = z.infer<typeof speechBodySchema>;

const speechUsageSchema = z.object({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() });
export const speechEventSchema = z
  .discriminatedUnion("type", [
    z.object({
      type: z.literal("speech.audio.delta"),
      audio: z.string().describe("The next bytes of the file, in base64"),
    }),
    z.object({ type: z.literal("speech.audio.done"), usage: speechUsageSchema }),
  ])
  .openapi("SpeechEvent");
export type SpeechEvent = z.infer<typeof speechEventSchema>;

/** Returns the maximum characters of one job of the Cargo, which its input schema may limit. */
export function maxPieceCharsOf({ inputSchema }: Pick<CatalogEntry, "inputSchema">): number {
  const { properties } = inputSchema as { properties?: { text?: { maxLength?: unknown } } };
  const limit = properties?.text?.maxLength;
  return typeof limit === "number" ? Math.max(1, Math.min(limit, MAX_PIECE_CHARS)) : MAX_PIECE_CHARS;
}

export function speechInputOf({ voice, speed }: SpeechBody, text: string): JobInput {
  return {
    text,
    ...(voice == null || voice === DEFAULT_VOICE ? {} : { voice }),
    ...(speed == null || speed === 1 ? {} : { speed }),
  };
}

/** Returns the WAV file in a job's output as base64; undefined for any other output. */
export function wavOf(output: unknown): string | undefined {
  const { format, data } = (output ?? {}) as { format?: unknown; data?: unknown };
  return format === "wav" && typeof data === "string" ? data : undefined;
}
