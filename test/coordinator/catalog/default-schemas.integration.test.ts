import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { cargoOf, readCargo } from "../../../coordinator/catalog/cargo-file.ts";
import { ONNX_TASKS, type OnnxOutput, type OnnxTask } from "../../../shared/onnx-task.ts";
import { vectorsOf } from "../../../shared/text-task.ts";
import { CHAT_FILE, CONTAINER_FILE, ONNX_FILE } from "./cargo-builders.ts";

const ajv = new Ajv2020({ strict: false });

function outputSchemaOf(file: object): Readonly<Record<string, unknown>> {
  const read = readCargo(file);
  if ("errors" in read) throw new Error(JSON.stringify(read.errors));
  return cargoOf(read.file).outputSchema;
}
const accepts = (file: object, output: unknown): boolean => ajv.validate(outputSchemaOf(file), output);

const data = "iVBORw0KGgo=";
const mask = { format: "png", data } as const;
const OUTPUTS: { readonly [Task in OnnxTask]: OnnxOutput<Task> } = {
  "text-classification": [{ label: "POSITIVE", score: 0.99 }],
  "feature-extraction": {
    embeddings: [
      [0.1, -0.2],
      [0.3, 0.4],
    ],
  },
  "token-classification": [{ entity: "B-PER", score: 0.9, word: "Ada", index: 1, start: 0, end: 3 }],
  "question-answering": { answer: "a reef", score: 0.5 },
  summarization: { summary: "Short." },
  translation: { translation: "Kurz." },
  "automatic-speech-recognition": { text: "Hello", chunks: [{ start_s: 0, end_s: null, text: "Hello" }] },
  "text-to-speech": { format: "wav", sampling_rate_hz: 16_000, data },
  "object-detection": [{ label: "boat", score: 0.8, box: { xmin: 1, ymin: 2, xmax: 3.5, ymax: 4 } }],
  "image-segmentation": [
    { label: "sea", score: null, mask },
    { label: null, score: null, mask },
  ],
  "image-to-text": { text: "an island" },
  "depth-estimation": { width: 2, height: 1, depth: mask },
  "zero-shot-classification": { labels: ["a", "b"], scores: [0.9, 0.1] },
  "fill-mask": [{ token: "islands", score: 0.4, sequence: "A ring of islands." }],
};

describe("outputSchemaOf()", () => {
  it.each(ONNX_TASKS)("accepts only the output of its own task for %s", (task) => {
    for (const runtime_type of ["onnx", "coreml"]) {
      const file = { ...ONNX_FILE, runtime_type, onnx_task_type: task };
      const taken = ONNX_TASKS.filter((other) => accepts(file, OUTPUTS[other]));
      // A transcription without timestamps has the form of a caption.
      expect(taken).toEqual(task === "automatic-speech-recognition" ? [task, "image-to-text"] : [task]);
      expect(accepts(file, "a text")).toBe(false);
    }
  });

  it("matches what POST /embeddings reads, for embeddings", () => {
    expect(vectorsOf(OUTPUTS["feature-extraction"], 2)).toEqual(OUTPUTS["feature-extraction"].embeddings);
  });

  it("describes raw tensors for a Cargo without a task", () => {
    const tensor = { type: "int64", dims: [1, 3], data: [1, "9223372036854775807", 3] };
    for (const runtime_type of ["onnx", "coreml"]) {
      const file = { ...ONNX_FILE, runtime_type, onnx_task_type: null };
      expect(accepts(file, { outputs: { logits: tensor, hidden: { type: "float32", dims: [1], data: [null] } } })).toBe(
        true,
      );
      expect(accepts(file, { outputs: { logits: { ...tensor, type: "int65" } } })).toBe(false);
    }
  });

  it("describes a text for chat and an image for image generation, with any runtime", () => {
    expect([accepts(CHAT_FILE, "Hi"), accepts(CHAT_FILE, {})]).toEqual([true, false]);
    const drawn = { ...ONNX_FILE, runtime_type: "diffusers", onnx_task_type: null };
    const onMac = { ...ONNX_FILE, runtime_type: "coreml", onnx_task_type: "text-to-image" };
    for (const file of [drawn, onMac]) {
      expect([accepts(file, { format: "png", data }), accepts(file, "Hi")]).toEqual([true, false]);
    }
  });

  it("returns the file's own schema, or {} for a program without one", () => {
    expect(outputSchemaOf(CONTAINER_FILE)).toEqual({});
    const output_schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
    expect(outputSchemaOf({ ...CONTAINER_FILE, output_schema })).toEqual(output_schema);
    expect(outputSchemaOf({ ...ONNX_FILE, output_schema })).toEqual(output_schema);
  });
});
