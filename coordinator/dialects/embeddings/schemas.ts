import { z } from "@hono/zod-openapi";
import { MAX_INPUT_BYTES } from "../../../shared/chat-input.ts";
import { KIB } from "../../../shared/format-bytes.ts";
import { OPENAI_LABEL, requestObject } from "../../../shared/request-object.ts";

/** Same limit as OpenAI's. */
const MAX_TEXTS = 2_048;
/** Maximum texts of one job, and their bytes as JSON, which leave 1 KiB of its input for the JSON around them. */
const MAX_TEXTS_OF_JOB = 256;
const MAX_BYTES_OF_JOB = MAX_INPUT_BYTES - KIB;

const MAX_DIMENSIONS = 1_000_000;

const textSchema = z
  .string()
  .min(1, "must not be empty")
  .refine((text) => bytesInList(text) <= MAX_BYTES_OF_JOB, `must have at most ${MAX_BYTES_OF_JOB} bytes as JSON`);

function describeInputFault(input: unknown): string {
  if (!Array.isArray(input)) return `must be a string, or a list of 1 to ${MAX_TEXTS} strings`;
  if (input.length > MAX_TEXTS) return `has ${input.length} texts; send at most ${MAX_TEXTS}`;
  return "must be strings; token ids are not supported";
}

/** Body of an embeddings request. `null` means "not given". Source: OpenAI's API. */
export const embeddingsBodySchema = requestObject({
  input: z
    .union([textSchema, z.array(textSchema).min(1, "must have at least one text").max(MAX_TEXTS)], {
      error: ({ input }) => describeInputFault(input),
    })
    .describe(
      `A text or a list of texts. A job takes up to ${MAX_TEXTS_OF_JOB} texts or ${MAX_BYTES_OF_JOB / KIB} KiB. Lists of token ids are refused`,
    ),
  model: z
    .string()
    .min(1)
    .nullish()
    .describe(
      "Slug or alias of a Cargo with the task `feature-extraction`. Default: the setting `default_embedding_cargo`",
    ),
  encoding_format: z
    .enum(["float", "base64"])
    .nullish()
    .describe("Default `float`. base64: little-endian 32-bit floats"),
  dimensions: z
    .int()
    .min(1)
    .max(MAX_DIMENSIONS)
    .nullish()
    .describe(
      "Must be the model's number of dimensions. Another number is refused after the job has run, which is charged",
    ),
  user: OPENAI_LABEL,
}).openapi("EmbeddingsRequest");
export type EmbeddingsBody = z.infer<typeof embeddingsBodySchema>;

export const embeddingsSchema = z
  .object({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.literal("embedding"),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.base64()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .openapi("Embeddings");

/** Texts of one job, with the index of the first in the request. */
interface TextsOfJob {
  readonly first: number;
  readonly texts: readonly string[];
}

/** Splits the texts into jobs, each with as many as fit, in their order. */
export function jobsOfTexts(input: EmbeddingsBody["input"]): TextsOfJob[] {
  const jobs: { first: number; texts: string[] }[] = [];
  let bytes = 0;
  for (const [index, text] of (typeof input === "string" ? [input] : input).entries()) {
    const more = bytesInList(text);
    const last = jobs.at(-1);
    if (last !== undefined && last.texts.length < MAX_TEXTS_OF_JOB && bytes + more <= MAX_BYTES_OF_JOB) {
      last.texts.push(text);
      bytes += more;
    } else {
      jobs.push({ first: index, texts: [text] });
      bytes = more;
    }
  }
  return jobs;
}

/** Returns the bytes as JSON, with the comma or bracket before it. */
function bytesInList(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 1;
}

export function presentEmbeddings(
  vectors: readonly number[][],
  { model, encoding_format: format }: Pick<EmbeddingsBody, "encoding_format"> & { model: string },
  promptTokens: number,
): z.infer<typeof embeddingsSchema> {
  return {
    object: "list",
    data: vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: format === "base64" ? base64Of(vector) : vector,
    })),
    model,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  };
}

function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * Float32Array.BYTES_PER_ELEMENT);
  return bytes.toString("base64");
}
