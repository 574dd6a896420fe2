import { z } from "zod";

/** transformers.js pipelines that an Island's onnx runtime knows. Source: DESIGN §7. */
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

/** Task of a `coreml` Cargo whose model is a folder as the diffusers exporters write it. Its other tasks are those of `onnx`. */
export const TEXT_TO_IMAGE = "text-to-image";

const base64 = z.string().meta({ contentEncoding: "base64" });
const score = z.number();
const pixels = z.number();
const span = {
  start: z.int().nonnegative().optional().describe("Of the first UTF-16 unit in the text; not every model tells"),
  end: z.int().nonnegative().optional().describe("After the last UTF-16 unit in the text"),
};
const image = z.object({ format: z.literal("png"), data: base64 });

/** An image, as `diffusers` Cargos put it out: the last `image` event of the job. */
export const imageOutputSchema = z.object({ format: z.string(), data: base64 });

/** What a job of each task puts out. The inputs are described by the Cargos' own `input_schema`. */
export const ONNX_OUTPUTS = {
  "text-classification": z
    .array(z.object({ label: z.string(), score }))
    .describe("Best first, as many as `top_k` of the input"),
  "feature-extraction": z.object({
    embeddings: z.array(z.array(z.number())).describe("A vector for each text of the input, in their order"),
  }),
  "token-classification": z
    .array(
      z.object({
        entity: z.string(),
        score,
        word: z.string(),
        index: z.int().nonnegative().describe("Of the token in the model's own count"),
        ...span,
      }),
    )
    .describe("In order of the text, without tokens that are no entity"),
  "question-answering": z.object({ answer: z.string(), score, ...span }),
  summarization: z.object({ summary: z.string() }),
  translation: z.object({ translation: z.string() }),
  "automatic-speech-recognition": z.object({
    text: z.string(),
    chunks: z
      .array(
        z.object({
          start_s: z.number(),
          end_s: z.number().nullable().describe("Null where the speech was cut off"),
          text: z.string(),
        }),
      )
      .optional()
      .describe("Where the input asks for timestamps"),
  }),
  "text-to-speech": z.object({
    format: z.literal("wav"),
    sampling_rate_hz: z.int().positive(),
    data: base64.describe("A WAV file of one channel"),
  }),
  "object-detection": z
    .array(
      z.object({
        label: z.string(),
        score,
        box: z
          .object({ xmin: pixels, ymin: pixels, xmax: pixels, ymax: pixels })
          .describe("In pixels from the image's upper left corner"),
      }),
    )
    .describe("Best first"),
  "image-segmentation": z
    .array(
      z.object({
        label: z.string().nullable().describe("Null of a model that only parts foreground from background"),
        score: score.nullable().describe("Null of a model that gives every point one label"),
        mask: image.describe("As large as the image, one channel: white is inside"),
      }),
    )
    .describe("One entry for each segment"),
  "image-to-text": z.object({ text: z.string() }),
  "depth-estimation": z.object({
    width: z.int().positive(),
    height: z.int().positive(),
    depth: image.describe("As large as the image, one channel: the lighter, the nearer"),
  }),
  "zero-shot-classification": z.object({
    labels: z.array(z.string()).describe("Those of the input, best first"),
    scores: z.array(score).describe("In the order of `labels`"),
  }),
  "fill-mask": z
    .array(
      z.object({
        token: z.string().describe("What takes the place of the mask"),
        score,
        sequence: z.string().describe("The text with its mask filled"),
      }),
    )
    .describe("Best first, as many as `top_k` of the input"),
} satisfies Record<OnnxTask, z.ZodType>;
export type OnnxOutput<Task extends OnnxTask> = z.infer<(typeof ONNX_OUTPUTS)[Task]>;

/** Types of tensors under ONNX Runtime's names. */
export const TENSOR_TYPES = [
  ...(["float16", "float32", "float64", "bool", "string"] as const),
  ...(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const),
] as const;

/** A tensor in JSON, as jobs of Cargos without a task take and give it. */
export const tensorSchema = z.object({
  type: z.enum(TENSOR_TYPES),
  dims: z.array(z.int().nonnegative()),
  data: z
    .array(z.union([z.number(), z.boolean(), z.string(), z.null()]))
    .describe(
      "Flat, the last dimension fastest. 64-bit integers beyond 2^53 - 1 are decimal text; null is NaN or an infinity",
    ),
});
export type TensorJson = z.infer<typeof tensorSchema>;

/** Output where no task is named: all outputs of the graph, by name. */
export const tensorsOutputSchema = z.object({ outputs: z.record(z.string(), tensorSchema) });
