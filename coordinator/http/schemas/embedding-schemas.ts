import { z } from "@hono/zod-openapi";
import { MAX_INPUT_BYTES } from "../../../shared/chat-input.ts";
import { KIB } from "../../../shared/format-bytes.ts";
import type { Usage } from "../../../shared/output.ts";

const MAX_TEXTS = 256;
/** Leaves 1 KiB of a job's input for the JSON around the texts. */
const MAX_TEXTS_BYTES = MAX_INPUT_BYTES - KIB;

const textSchema = z.string().min(1, "must not be empty");

function describeInputFault(input: unknown): string {
  if (!Array.isArray(input)) return `must be a text, or a list of 1 to ${MAX_TEXTS} texts`;
  if (input.length > MAX_TEXTS) return `has ${input.length} texts; send at most ${MAX_TEXTS}`;
  return "must be texts; lists of tokens are not supported";
}

/** Body of an embeddings request. `openai/embedding-parameters.ts` says what is refused; `null` means "not given". */
export const embeddingsBodySchema = z
  .object({
    input: z
      .union([textSchema, z.array(textSchema).min(1, "must have at least one text").max(MAX_TEXTS)], {
        error: ({ input }) => describeInputFault(input),
      })
      .refine((input) => Buffer.byteLength(JSON.stringify(input)) <= MAX_TEXTS_BYTES, {
        message: `is larger than ${MAX_TEXTS_BYTES} bytes as JSON`,
      }),
    model: z.string().min(1).nullish().openapi({
      description:
        "Default: the operator's (default_embedding_cargo). Slug of an onnx Cargo with the task feature-extraction",
    }),
    encoding_format: z
      .enum(["float", "base64"])
      .nullish()
      .openapi({ description: "base64: little-endian 32-bit floats; default: float" }),
    dimensions: z
      .null("is not supported; leave it out to get the model's own dimensions")
      .optional()
      .openapi({ description: "Not supported" }),
  })
  .openapi("EmbeddingsRequest");
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

/** Output of a feature-extraction Cargo: one vector for each text, all of the same length. */
const outputSchema = z
  .object({ embeddings: z.array(z.array(z.number()).min(1)).min(1) })
  .refine(({ embeddings }) => embeddings.every(({ length }) => length === embeddings[0]?.length));

/** The vectors in a job's output; undefined unless there are `count` of them. */
export function vectorsOf(output: unknown, count: number): number[][] | undefined {
  const { success, data } = outputSchema.safeParse(output);
  return success && data.embeddings.length === count ? data.embeddings : undefined;
}

export function presentEmbeddings(
  vectors: readonly number[][],
  { model, encoding_format: format }: Pick<EmbeddingsBody, "encoding_format"> & { model: string },
  { promptTokens }: Usage,
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
