import type { CreateCargo, IslandDetail } from "@atoll/client";
import { FieldFailure } from "../../components/field-failure.ts";
import type { FormValues } from "../../components/form.tsx";

export type EngineModel = IslandDetail["engine_models"][number];

const MAX_SLUG = 100;
/** Maximum tokens of context of a Cargo for an engine that does not report its own. */
const MAX_UNREPORTED = 4_096;

const QUESTION = "What is an atoll?";
const TEXT = "An atoll is a ring of islands.";
/** What an engine may do with a model, with an example for each task. No engine reports it. */
export const USES = [
  { label: "chats", task: null, example: { prompt: QUESTION } },
  { label: "embeddings", task: "feature-extraction", example: { input: TEXT } },
  { label: "ranking of texts", task: "text-ranking", example: { query: QUESTION, documents: [TEXT] } },
] as const;

/** Returns the slug that is proposed for a declared model. */
export function proposedSlug(name: string): string {
  const words = name.toLowerCase().replace(/[^a-z0-9._-]+/g, "-");
  return `declared-${words.replace(/^-|-$/g, "")}`.slice(0, MAX_SLUG);
}

/** Shortens the hash or commit in the name of a proved model. */
export function shortName(name: string): string {
  return name.replace(/([0-9a-f]{12})[0-9a-f]{28,}$/, "$1…");
}

/** Returns the Cargo that offers a declared model. @throws {FieldFailure} */
export function offeredCargo(model: EngineModel, values: FormValues): CreateCargo {
  const { name, parameters, quantization, context_length: limit } = model;
  const price = values("price_per_job").trim();
  if (!/^\d+(\.\d+)?$/.test(price)) throw new FieldFailure("price_per_job", "Enter a number such as 0.05");
  const context = Number(values("context_tokens"));
  if (!Number.isInteger(context) || context < 1) {
    throw new FieldFailure("context_tokens", "Enter a number of tokens such as 4096");
  }
  if (limit !== null && context > limit) throw new FieldFailure("context_tokens", `The engine has only ${limit}`);
  if (limit === null && context > MAX_UNREPORTED) {
    throw new FieldFailure("context_tokens", `The engine does not report its context. Enter at most ${MAX_UNREPORTED}`);
  }
  const { task, example } = USES.find(({ label }) => label === values("use")) ?? USES[0];
  return {
    slug: values("slug").trim(),
    name: values("name").trim(),
    description: `Served by engines of hosts under the name ${name}.`,
    category: task === null ? "llm" : "text",
    runtime_type: "engine",
    licence: values("licence").trim(),
    price_per_job: Number(price),
    required_ram_mb: 0,
    required_vram_mb: 0,
    model: { url: `engine:${name}`, sha256: null, size_bytes: null },
    context_tokens: context,
    example_input: example,
    task,
    parameters: parameters !== null && /^\d+(\.\d+)?[MB]$/.test(parameters) ? parameters : null,
    quantization: quantization === "" ? null : quantization,
  };
}
