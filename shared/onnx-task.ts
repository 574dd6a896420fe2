import { z } from "zod";

/** transformers.js pipelines of the onnx runtime. */
export const ONNX_TASKS = [
  "text-classification",
  "feature-extraction",
  "token-classification",
  "question-answering",
  "summarization",
  "translation",
  "automatic-speech-recognition",
  "text-to-speech",
  "object-detection",
  "image-segmentation",
  "image-to-text",
  "depth-estimation",
  "zero-shot-classification",
  "fill-mask",
] as const;
export type OnnxTask = (typeof ONNX_TASKS)[number];

/**
 * Task of a `coreml` Cargo whose model is a diffusers pipeline. All other tasks of a `coreml` Cargo are tasks of
 * `onnx`.
 */
export const TEXT_TO_IMAGE = "text-to-image";

const base64 = z.string().meta({ contentEncoding: "base64" });
const score = z.number();
const pixels = z.number();
const span = {
  start: z
    .int()
    .nonnegative()
    .optional()
    .describe("Offset of the first UTF-16 unit in the text; not every model returns it"),
  end: z.int().nonnegative().optional().describe("Offset after the last UTF-16 unit in the text"),
};
const image = z.object({ format: z.literal("png"), data: base64 });

/** Output of `diffusers` Cargos, which is also the job's last `image` event. */
export const imageOutputSchema = z.object({ format: z.string(), data: base64 });

/** Output of each task. The `input_schema` of a Cargo describes its input. */
export const ONNX_OUTPUTS = {
  "text-classification": z
    .array(z.object({ label: z.string(), score }))
    .describe("Best first, as many as `top_k` of the input"),
  "feature-extraction": z.object({
    embeddings: z.array(z.array(z.number())).describe("A vector for each text of the input, in the same order"),
  }),
  "token-classification": z
    .array(
      z.object({
        entity: z.string(),
        score,
        word: z.string(),
        index: z.int().nonnegative().describe("Index of the token in the model's tokenisation"),
        ...span,
      }),
    )
    .describe("In text order, without tokens that are not an entity"),
  "question-answering": z.object({ answer: z.string(), score, ...span }),
  summarization: z.object({ summary: z.string() }),
  translation: z.object({ translation: z.string() }),
  "automatic-speech-recognition": z.object({
    text: z.string(),
    chunks: z
      .array(
        z.object({
          start_s: z.number(),
          end_s: z.number().nullable().describe("Null if the recording ends within the speech"),
          text: z.string(),
        }),
      )
      .optional()
      .describe("Segments, or words with `timestamps: word`. Present if the input asks for timestamps"),
  }),
  "text-to-speech": z.object({
    format: z.literal("wav"),
    sampling_rate_hz: z.int().positive(),
    data: base64.describe("A mono WAV file"),
  }),
  "object-detection": z
    .array(
      z.object({
        label: z.string(),
        score,
        box: z
          .object({ xmin: pixels, ymin: pixels, xmax: pixels, ymax: pixels })
          .describe("In pixels, from the image's upper left corner"),
      }),
    )
    .describe("Best first"),
  "image-segmentation": z
    .array(
      z.object({
        label: z.string().nullable().describe("Null for a model that only separates foreground and background"),
        score: score.nullable().describe("Null for a model that labels every pixel"),
        mask: image.describe("Same size as the image, one channel: white is inside"),
      }),
    )
    .describe("One entry for each segment"),
  "image-to-text": z.object({ text: z.string() }),
  "depth-estimation": z.object({
    width: z.int().positive(),
    height: z.int().positive(),
    depth: image.describe("Same size as the image, one channel: lighter is nearer"),
  }),
  "zero-shot-classification": z.object({
    labels: z.array(z.string()).describe("The labels of the input, best first"),
    scores: z.array(score).describe("In the order of `labels`"),
  }),
  "fill-mask": z
    .array(
      z.object({
        token: z.string().describe("The token in place of the mask"),
        score,
        sequence: z.string().describe("The text with its mask filled"),
      }),
    )
    .describe("Best first, as many as `top_k` of the input"),
} satisfies Record<OnnxTask, z.ZodType>;
export type OnnxOutput<Task extends OnnxTask> = z.infer<(typeof ONNX_OUTPUTS)[Task]>;

/** Element types of tensors, with ONNX Runtime's names. */
export const TENSOR_TYPES = [
  ...(["float16", "float32", "float64", "bool", "string"] as const),
  ...(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const),
] as const;

/** Tensor in JSON, for input and output of Cargos without a task. */
export const tensorSchema = z.object({
  type: z.enum(TENSOR_TYPES),
  dims: z.array(z.int().nonnegative()),
  data: z
    .array(z.union([z.number(), z.boolean(), z.string(), z.null()]))
    .describe("Flat, in row-major order. 64-bit integers beyond 2^53 - 1 are decimal strings; null is NaN or infinity"),
});
export type TensorJson = z.infer<typeof tensorSchema>;

/** Output of a Cargo without a task: all outputs of the graph, by name. */
export const tensorsOutputSchema = z.object({ outputs: z.record(z.string(), tensorSchema) });
