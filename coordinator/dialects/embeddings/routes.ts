import { setImmediate as nextTick } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { vectorsOf } from "../../../shared/text-task.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { mapWithConcurrency, MAX_CONCURRENCY } from "../../http/streaming/map-with-concurrency.ts";
import { runForOutput } from "../../http/streaming/whole-output.ts";
import { requestContextOf, type JobRunDeps, type RequestContext } from "../../http/streaming/request-context.ts";
import { LARGE_RESPONSE_CHARS } from "../../http/middleware/json-response.ts";
import { trustFields } from "../../http/schemas/trust-fields.ts";
import { MAX_INPUT_BYTES } from "../../../shared/chat-input.ts";
import { KIB } from "../../../shared/format-bytes.ts";
import { OPENAI_LABEL, requestObject } from "../../../shared/request-object.ts";

const MAX_TEXTS = 2_048;
const MAX_TEXTS_OF_JOB = 256;
/** Maximum bytes of a job's texts, which leaves 1 KiB of its input for the JSON around them. */
const MAX_BYTES_OF_JOB = MAX_INPUT_BYTES - KIB;
const MAX_DIMENSIONS = 1_000_000;
const VECTORS_PER_TICK = 64;

const textSchema = z
  .string()
  .min(1, "must not be empty")
  .refine((text) => bytesInList(text) <= MAX_BYTES_OF_JOB, `must have at most ${MAX_BYTES_OF_JOB} bytes as JSON`);

function describeInputFault(input: unknown): string {
  if (!Array.isArray(input)) return `must be a string, or a list of 1 to ${MAX_TEXTS} strings`;
  if (input.length > MAX_TEXTS) return `has ${input.length} texts; send at most ${MAX_TEXTS}`;
  return "must be strings; token ids are not supported";
}

/** Body of an embeddings request. Source: OpenAI's API. */
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
    .describe("Format of the vectors. Default: `float`. `base64` encodes little-endian 32-bit floats"),
  dimensions: z
    .int()
    .min(1)
    .max(MAX_DIMENSIONS)
    .nullish()
    .describe(
      "Must be the model's number of dimensions. Any other number is refused after the job has run, and the job is charged",
    ),
  user: OPENAI_LABEL,
  ...trustFields,
}).openapi("EmbeddingsRequest");
type EmbeddingsBody = z.infer<typeof embeddingsBodySchema>;

const embeddingsSchema = z
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

function splitIntoJobs(input: EmbeddingsBody["input"]) {
  const jobs: { first: number; texts: string[] }[] = [];
  let bytes = 0;
  for (const [index, text] of (typeof input === "string" ? [input] : input).entries()) {
    const last = jobs.at(-1);
    bytes += bytesInList(text);
    if (last !== undefined && last.texts.length < MAX_TEXTS_OF_JOB && bytes <= MAX_BYTES_OF_JOB) last.texts.push(text);
    else {
      jobs.push({ first: index, texts: [text] });
      bytes = bytesInList(text);
    }
  }
  return jobs;
}

/** Returns the bytes of a text as JSON, with the comma or bracket before it. */
function bytesInList(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 1;
}

function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * Float32Array.BYTES_PER_ELEMENT);
  return bytes.toString("base64");
}

export const embeddingRoutes = routeGroup("/embeddings", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("", {
    id: "createEmbeddings",
    is: "Create embeddings",
    about: "Up to 256 texts are one job. If the client disconnects, the jobs are cancelled.",
    ...WAITS_FOR_JOBS,
    body: embeddingsBodySchema,
    responses: { 200: json(embeddingsSchema, "One vector for each text, in the same order") },
  })(async (call) => {
    const { c, body } = call;
    const embeddings = await runEmbeddings(deps, requestContextOf(call), body);
    if (embeddings === null) return null;
    const text = await stringify(embeddings);
    if (text.length > LARGE_RESPONSE_CHARS) c.get("limits").holdStream(c.env.outgoing, text.length);
    return c.body(text, 200, { "Content-Type": "application/json" });
  });
});

/** Returns the response as JSON. Yields to other requests between parts: two million numbers take a second. */
async function stringify({ object, data, ...rest }: z.infer<typeof embeddingsSchema>): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < data.length; from += VECTORS_PER_TICK) {
    const vectors = data.slice(from, from + VECTORS_PER_TICK);
    parts.push(vectors.map((vector) => JSON.stringify(vector)).join(","));
    await nextTick();
  }
  const [head, tail] = [JSON.stringify({ object }).slice(0, -1), JSON.stringify(rest).slice(1)];
  return `${head},"data":[${parts.join(",")}],${tail}`;
}

/** Checks the length of the vectors, which the catalog does not know. @throws {ValidationError} */
function assertDimensions([vector]: readonly (readonly number[])[], requested: number | null | undefined): void {
  if (requested == null || vector === undefined || vector.length === requested) return;
  const message = `must be ${vector.length}, this model's number of dimensions, or omitted; got ${requested}`;
  throw new ValidationError([{ path: "dimensions", message }]);
}

export async function runEmbeddings(
  deps: JobRunDeps,
  client: RequestContext,
  body: EmbeddingsBody,
): Promise<z.infer<typeof embeddingsSchema> | null> {
  const { slug } = await findModelFor("embedding", deps.catalog, body.model, client.submitter.accountId);
  const made = await mapWithConcurrency(
    splitIntoJobs(body.input),
    MAX_CONCURRENCY,
    client.signal,
    async ({ first, texts }, _, signal) => {
      const fieldOf = (path: string): string =>
        path.replace(/^input\.(\d+)/, (__, at) => `input.${first + Number(at)}`);
      const job = await runForOutput(deps, { ...client, signal }, { slug, input: { input: [...texts] }, fieldOf });
      if (job === null) return null;
      const vectors = vectorsOf(job.output, texts.length);
      if (vectors === undefined)
        throw new ServiceError("job_failed", "The Cargo's output does not have one vector for each text");
      assertDimensions(vectors, body.dimensions);
      return { vectors, tokens: job.usage.promptTokens };
    },
  );
  if (made === null) return null;
  const tokens = made.reduce((sum, job) => sum + job.tokens, 0);
  const encode = (vector: number[]) => (body.encoding_format === "base64" ? base64Of(vector) : vector);
  const vectors = made.flatMap((job) => job.vectors);
  return {
    object: "list",
    data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: encode(vector) })),
    model: body.model ?? slug,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}
