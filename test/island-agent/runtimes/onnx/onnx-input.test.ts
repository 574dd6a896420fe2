import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readOnnxInput } from "../../../../island-agent/runtimes/onnx/onnx-input.ts";
import { ONNX_TASKS, type OnnxTask } from "../../../../shared/onnx-task.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const WAV = Buffer.from("RIFF\0\0\0\0WAVEfmt ").toString("base64");

interface ShippedCargo {
  readonly slug: string;
  readonly runtime_type: string;
  readonly onnx_task_type: OnnxTask;
  readonly input_schema: { readonly properties: Readonly<Record<string, { readonly default?: unknown }>> };
  readonly example_input: object;
}
const CARGOS = path.resolve(import.meta.dirname, "../../../../catalog/cargos");
const SHIPPED = readdirSync(CARGOS)
  .map((name) => JSON.parse(readFileSync(path.join(CARGOS, name), "utf8")) as ShippedCargo)
  .filter((cargo) => cargo.runtime_type === "onnx");

const problemOf = (task: OnnxTask | null, input: unknown): string => {
  try {
    readOnnxInput(task, input);
  } catch (error) {
    expect(error).toMatchObject({ name: "JobFailure", code: "invalid_input", retryable: false });
    return (error as Error).message;
  }
  throw new Error("the input was accepted");
};

describe("readOnnxInput()", () => {
  it.each<[OnnxTask, unknown, unknown]>([
    ["text-classification", { text: "a", other: 1 }, { text: "a", top_k: 1 }],
    ["feature-extraction", { input: "a" }, { input: "a", pooling: "mean", normalize: true }],
    ["zero-shot-classification", { text: "a", labels: ["b"] }, { text: "a", labels: ["b"], multi_label: false }],
    ["depth-estimation", { image: PNG }, { image: PNG }],
    ["depth-estimation", { image: `data:image/png;base64,${PNG}` }, { image: PNG }],
    [
      "automatic-speech-recognition",
      { audio: `data:audio/wav;base64,${WAV}` },
      { audio: WAV, task: "transcribe", timestamps: false },
    ],
  ])("fills in the defaults of %s", (task, input, read) => {
    expect(readOnnxInput(task, input)).toEqual(read);
  });

  it.each<[OnnxTask | null, unknown, string]>([
    ["text-classification", {}, "text: "],
    ["text-classification", { text: "" }, "text: must not be empty"],
    ["text-classification", { text: "a", top_k: 0 }, "top_k: "],
    ["feature-extraction", { input: [] }, "input: Too small: expected array to have >=1 items"],
    ["feature-extraction", { input: ["a", ""] }, "input.1: must not be empty"],
    ["feature-extraction", { input: 5 }, "input: must be a text, or a list of 1 to 2048 texts, all of them non-empty"],
    [
      "feature-extraction",
      { input: ["a", "b"], pooling: "none" },
      'pooling: "none" returns one vector per token, so input must be a single text',
    ],
    ["question-answering", { question: "a" }, "context: "],
    ["translation", { text: "a", tgt_lang: "../.." }, "tgt_lang: must be a language code or name"],
    [
      "text-to-speech",
      { text: "a", voice: "../secret" },
      "voice: must be the name of a voice: 1 to 40 letters, digits, _ and -",
    ],
    ["zero-shot-classification", { text: "a", labels: ["b", ""] }, "labels.1: must not be empty"],
    ["object-detection", { image: PNG, threshold: 2 }, "threshold: "],
    ["object-detection", { image: "%%%%" }, "image: must be valid base64"],
    ["object-detection", { image: "" }, "image: must be valid base64"],
    ["object-detection", { image: `${PNG}=` }, "image: must be valid base64"],
    ["object-detection", { image: WAV }, "image: must be a PNG, JPEG or WebP file"],
    ["object-detection", { image: Buffer.from("<svg xmlns=''/>").toString("base64") }, "image: must be a PNG"],
    [
      "object-detection",
      { image: "data:image/png,abc" },
      "image: must be base64, or a data URL of the form data:image/",
    ],
    [
      "object-detection",
      { image: `data:text/html;base64,${PNG}` },
      "image: must be base64, or a data URL of the form data:image/",
    ],
    ["object-detection", { image: "https://example.com/a.png" }, "image: must be valid base64"],
    ["automatic-speech-recognition", { audio: PNG }, "audio: must be a WAV file"],
    [null, {}, "inputs: "],
    [null, { inputs: { x: { type: "float8", dims: [1], data: [1] } } }, "inputs.*.type: "],
    [null, { inputs: { x: { type: "float32", dims: [-1], data: [1] } } }, "inputs.*.dims.0: "],
    [null, { inputs: { x: { type: "float32", dims: [1], data: [[1]] } } }, "inputs.*.data.0: "],
  ])("refuses for task %s %j", (task, input, message) => {
    expect(problemOf(task, input)).toContain(message);
  });

  it.each(SHIPPED.map((cargo) => [cargo.slug, cargo] as const))(
    "accepts the example of %s, with the defaults of its schema",
    (_slug, cargo) => {
      const { onnx_task_type: task, input_schema: schema, example_input: example } = cargo;
      const defaults = Object.entries(schema.properties).flatMap(([name, field]) =>
        "default" in field ? [[name, field.default]] : [],
      );
      const read = readOnnxInput(task, { ...Object.fromEntries(defaults), ...example });
      expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(example)));
      expect(read).toMatchObject(example);
      expect(readOnnxInput(task, example)).toMatchObject(
        Object.fromEntries(defaults.filter(([name]) => !((name as string) in example) && name !== "voice")),
      );
    },
  );

  it("is tested with a shipped Cargo of every task", () => {
    expect(new Set(SHIPPED.map((cargo) => cargo.onnx_task_type)).size).toBe(ONNX_TASKS.length);
  });

  it.each(ONNX_TASKS)("names the missing field of %s", (task) => {
    expect(problemOf(task, {})).toMatch(/^\w+: /);
  });
});
