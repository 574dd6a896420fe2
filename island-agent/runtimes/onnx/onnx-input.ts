import { z } from "zod";
import { JobFailure } from "../../../shared/errors.ts";
import { type OnnxTask, tensorSchema } from "../../../shared/onnx-task.ts";
import { imageSchema, audioSchema } from "./media/encoded-file.ts";

const MAX_TEXTS = 2_048;
const MAX_NEW_TOKENS = 1_024;
/** Position of the tensor's name in a field's path. Messages do not repeat the name, because the client chose it. */
const TENSOR_NAME_DEPTH = 1;

const text = z.string().min(1, "must not be empty");
const threshold = z.number().min(0).max(1).default(0.5);
const topK = (initial: number) => z.int().min(1).max(100).default(initial);
const newTokens = (initial: number) => z.int().min(1).max(MAX_NEW_TOKENS).default(initial);
/** A language's code in the model, or its name: "de", "german", "deu_Latn". */
const language = z.string().regex(/^[\w-]{2,20}$/, 'must be a language code or name, such as "de" or "german"');

/** Input of each task, with the field names of the shipped Cargos' input schemas. Unknown fields are dropped. */
const ONNX_INPUTS = {
  "text-classification": z.object({ text, top_k: topK(1) }),
  "feature-extraction": z
    .object({
      input: z.union([text, z.array(text).min(1).max(MAX_TEXTS)], {
        error: `must be a text, or a list of 1 to ${MAX_TEXTS} texts, all of them non-empty`,
      }),
      pooling: z.enum(["mean", "cls", "none"]).default("mean"),
      normalize: z.boolean().default(true),
    })
    .refine(({ input, pooling }) => pooling !== "none" || typeof input === "string" || input.length === 1, {
      path: ["pooling"],
      message: '"none" returns one vector per token, so input must be a single text',
    }),
  "token-classification": z.object({ text }),
  "question-answering": z.object({ question: text, context: text }),
  summarization: z.object({ text, max_length: newTokens(128) }),
  translation: z.object({
    text,
    max_length: newTokens(512),
    src_lang: language.optional(),
    tgt_lang: language.optional(),
  }),
  "automatic-speech-recognition": z.object({
    audio: audioSchema,
    language: language.optional(),
    task: z.enum(["transcribe", "translate"]).default("transcribe"),
    /** `true` requests the times of segments. */
    timestamps: z.union([z.boolean(), z.enum(["segment", "word"])]).default(false),
    /** Windows of a long recording. Default: the model's maximum, with an overlap of a sixth. */
    chunk_length_s: z.number().min(1).max(30).optional(),
    stride_length_s: z.number().min(0).max(15).optional(),
  }),
  "text-to-speech": z.object({
    text,
    voice: z
      .string()
      .regex(/^[\w-]{1,40}$/, "must be the name of a voice: 1 to 40 letters, digits, _ and -")
      .optional(),
    speed: z.number().min(0.25).max(4).default(1),
  }),
  "object-detection": z.object({ image: imageSchema, threshold }),
  "image-segmentation": z.object({ image: imageSchema, threshold }),
  "image-to-text": z.object({ image: imageSchema, max_tokens: newTokens(64) }),
  "depth-estimation": z.object({ image: imageSchema }),
  "zero-shot-classification": z.object({
    text,
    labels: z.array(text).min(1).max(100),
    multi_label: z.boolean().default(false),
  }),
  "fill-mask": z.object({ text, top_k: topK(5) }),
} satisfies Record<OnnxTask, z.ZodType>;
export type OnnxInput<Task extends OnnxTask> = z.output<(typeof ONNX_INPUTS)[Task]>;

const tensorsInputSchema = z.object({ inputs: z.record(z.string(), tensorSchema) });
/** Input of a Cargo without a task. */
export type TensorsInput = z.output<typeof tensorsInputSchema>;

/** A job for the host process: validated, with defaults and with files as plain base64. */
export type OnnxJob = { [Task in OnnxTask]: OnnxInput<Task> }[OnnxTask] | TensorsInput;

/**
 * Validates a job's input for a task, or for raw tensors if `task` is null.
 * @throws {JobFailure} `invalid_input`, naming the first wrong field.
 */
export function readOnnxInput(task: OnnxTask | null, input: unknown): OnnxJob {
  const parsed = (task === null ? tensorsInputSchema : ONNX_INPUTS[task]).safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map((key, depth) =>
    task === null && depth === TENSOR_NAME_DEPTH ? "*" : String(key),
  );
  throw new JobFailure("invalid_input", `${path.join(".")}: ${issue?.message ?? "is invalid"}`);
}
