import { ServiceError } from "../../../shared/errors.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { requestContextOf, type JobRunDeps, type RequestContext } from "../../http/streaming/request-context.ts";
import { mapWithConcurrency, MAX_CONCURRENCY } from "../../http/streaming/map-with-concurrency.ts";
import { runForOutput } from "../../http/streaming/whole-output.ts";
import { trustFields } from "../../http/schemas/trust-fields.ts";
import { z } from "@hono/zod-openapi";
import { refused, requestObject } from "../../../shared/request-object.ts";

const MAX_TEXTS = 32;
/** Minimum score at which a category is true. */
const FLAG_SCORE = 0.5;
/** Number of labels that a job requests: the runtime's maximum, which covers all labels of any moderation model. */
const MAX_LABELS = 100;

/** Categories of a moderation. Source: OpenAI's API, `Moderation.Categories`. */
const CATEGORIES = [
  "harassment",
  "harassment/threatening",
  "hate",
  "hate/threatening",
  "illicit",
  "illicit/violent",
  "self-harm",
  "self-harm/instructions",
  "self-harm/intent",
  "sexual",
  "sexual/minors",
  "violence",
  "violence/graphic",
] as const;
type Category = (typeof CATEGORIES)[number];

/** Categories of the labels of well-known classifiers (Jigsaw's). Other labels count if they name a category. */
const CATEGORY_OF_LABEL: Readonly<Record<string, Category>> = {
  toxic: "harassment",
  toxicity: "harassment",
  severe_toxic: "harassment",
  severe_toxicity: "harassment",
  insult: "harassment",
  threat: "harassment/threatening",
  identity_hate: "hate",
  identity_attack: "hate",
  obscene: "sexual",
  sexual_explicit: "sexual",
};

const textSchema = z.string().min(1, "must not be empty");
const partSchema = requestObject({
  type: z.literal("text", "only text is supported"),
  text: textSchema,
  image_url: refused("only text is supported"),
});

const inputListSchema = z
  .array(z.union([textSchema, partSchema]))
  .min(1)
  .max(MAX_TEXTS);

/** Body of a moderation request. Source: OpenAI's API. */
export const moderationBodySchema = z
  .object({
    model: z
      .string()
      .min(1)
      .nullish()
      .describe(
        "Slug or alias of an onnx Cargo with the task `text-classification`. Default: the setting `default_moderation_cargo`",
      ),
    input: z
      .union([textSchema, inputListSchema], { error: `must be a string, or a list of 1 to ${MAX_TEXTS} strings` })
      .describe("A text or a list of texts. Each text is a job, and four run at once"),
    ...trustFields,
  })
  .openapi("ModerationRequest");
type ModerationBody = z.infer<typeof moderationBodySchema>;

const eachCategory = <T extends z.ZodType>(schema: T) =>
  z.object(Object.fromEntries(CATEGORIES.map((name) => [name, schema])) as Record<Category, T>);

const labelSchema = z.object({ label: z.string(), score: z.number() });
const resultSchema = z.object({
  flagged: z.boolean().describe("Whether any category is true"),
  categories: eachCategory(z.boolean()).describe(`True for scores of at least ${FLAG_SCORE}`),
  category_scores: eachCategory(z.number()).describe("0 for a category that the Cargo does not know"),
  category_applied_input_types: eachCategory(z.array(z.literal("text"))).describe(
    "Empty for a category that the Cargo does not know",
  ),
  labels: z
    .array(labelSchema)
    .describe("Labels of the Cargo, best first, including those that are not categories of OpenAI"),
});

const moderationSchema = z
  .object({
    id: z.string().describe("Id of the job of the first text"),
    model: z.string(),
    results: z.array(resultSchema),
  })
  .openapi("Moderation");

const labelsSchema = z.array(labelSchema).min(1);

/** Presents the result of one text. If several labels mean the same category, the highest score counts. */
function presentModeration(labels: z.infer<typeof labelsSchema>): z.infer<typeof resultSchema> {
  const scores = new Map<Category, number>();
  for (const { label, score } of labels) {
    const category = findCategory(label);
    if (category !== undefined) scores.set(category, Math.max(score, scores.get(category) ?? 0));
  }
  const each = <T>(valueOf: (score: number | undefined) => T): Record<Category, T> =>
    Object.fromEntries(CATEGORIES.map((name) => [name, valueOf(scores.get(name))])) as Record<Category, T>;
  const categories = each((score = 0) => score >= FLAG_SCORE);
  return {
    flagged: Object.values(categories).includes(true),
    categories,
    category_scores: each((score = 0) => score),
    category_applied_input_types: each((score) => (score === undefined ? [] : ["text" as const])),
    labels,
  };
}

function findCategory(label: string): Category | undefined {
  const name = label.toLowerCase();
  return CATEGORIES.find((category) => category === name) ?? CATEGORY_OF_LABEL[name.replaceAll(/[ -]/g, "_")];
}

export const moderationRoutes = routeGroup("/moderations", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("", {
    id: "createModeration",
    is: "Classify texts by OpenAI's moderation categories",
    about:
      "A text classification Cargo scores each text. Each text is a job, and four run at once. If the client disconnects, the jobs are cancelled.",
    ...WAITS_FOR_JOBS,
    body: moderationBodySchema,
    responses: { 200: json(moderationSchema, "One result for each text, in the same order") },
  })((call) => runModeration(deps, requestContextOf(call), call.body));
});

export async function runModeration(deps: JobRunDeps, client: RequestContext, { model, input }: ModerationBody) {
  const { slug } = await findModelFor("moderation", deps.catalog, model, client.submitter.accountId);
  const parts = typeof input === "string" ? [input] : input;
  const made = await mapWithConcurrency(parts, MAX_CONCURRENCY, client.signal, async (part, number, signal) => {
    const text = typeof part === "string" ? part : part.text;
    const fieldOf = (): string => (typeof input === "string" ? "input" : `input.${number}`);
    const request = { slug, input: { text, top_k: MAX_LABELS }, fieldOf };
    const job = await runForOutput(deps, { ...client, signal }, request);
    if (job === null) return null;
    const labels = labelsSchema.safeParse(job.output).data;
    if (labels === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a list of labels");
    return { jobId: job.jobId, result: presentModeration(labels) };
  });
  if (made === null) return null;
  return { id: made[0]?.jobId ?? "", model: slug, results: made.map(({ result }) => result) };
}
