import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { buildWav } from "../../../shared/audio/wav-builder.ts";
import { encodePng } from "../../../support/models/test-images.ts";
import { encodeWav, spellTones } from "../../../support/models/test-audio.ts";
import { makeOnnx, makeSlowOnnx } from "../../../support/models/tiny-onnx.ts";
import {
  collect,
  collectTensors,
  fixture,
  makeCargo,
  makeRuntime,
  loadTiny,
  NEVER,
  TemporaryFolder,
} from "./onnx-support.ts";

const folder = new TemporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** A copy of a fixture that the test damages. */
function copyOf(name: string, as: string): string {
  const copy = path.join(folder.path, as);
  cpSync(fixture(name), copy, { recursive: true });
  return copy;
}

const INVALID = { code: "invalid_input", retryable: false };

describe("object-detection of hostile images", () => {
  let cargo: HostedCargo;
  beforeAll(async () => {
    cargo = await loadTiny("object-detection", "tiny-detr");
  });
  afterAll(() => cargo[Symbol.asyncDispose]());
  const detect = (file: Buffer) => collect(cargo, "object-detection", { image: file.toString("base64") });
  const plain = (width: number, height: number): Promise<Buffer> =>
    sharp({ create: { width, height, channels: 3, background: "black" } })
      .png({ compressionLevel: 9, palette: true, colours: 2 })
      .toBuffer();

  it("accepts an image of one pixel", async () => {
    expect((await detect(await plain(1, 1))).output).toEqual([]);
  });

  it.each<[string, () => Promise<Buffer>, RegExp]>([
    [
      "bytes with only the beginning of a PNG",
      async () => Buffer.from("89504e470d0a1a0a00000000", "hex"),
      /^image: cannot be decoded/,
    ],
    [
      "a truncated PNG",
      async () => encodePng(128, 96, [{ colour: "red", left: 8, top: 8, right: 60, bottom: 60 }]).subarray(0, 150),
      /^image: cannot be decoded/,
    ],
    [
      "a PNG that unpacks to 25 megapixels",
      () => plain(5_000, 5_000),
      /^image: cannot be decoded: .*exceeds pixel limit/,
    ],
    [
      "an image of one row of pixels",
      () => plain(2_000, 1),
      /^image: cannot be decoded: the aspect ratio of 2000 by 1 pixels exceeds/,
    ],
  ])("refuses %s, without ending the process", async (_name, make, message) => {
    const { pid } = cargo;
    await expect(detect(await make())).rejects.toMatchObject({ ...INVALID, message: expect.stringMatching(message) });
    expect((await detect(await plain(8, 8))).output).toEqual([]);
    expect(cargo.pid).toBe(pid);
  });
});

describe("automatic-speech-recognition of hostile recordings", () => {
  let cargo: HostedCargo;
  beforeAll(async () => {
    cargo = await loadTiny("automatic-speech-recognition", "tiny-ctc");
  });
  afterAll(() => cargo[Symbol.asyncDispose]());
  const transcribe = (file: Buffer) =>
    collect(cargo, "automatic-speech-recognition", { audio: file.toString("base64") });

  it.each([
    [
      "a recording of 0 s",
      buildWav({ bits: 16, data: new Uint8Array(0) }),
      "audio: is 0 s long, but must be at least 0.1 s long",
    ],
    ["a WAV file without samples", Buffer.from("RIFF\0\0\0\0WAVE"), "audio: does not contain samples"],
    [
      "a recording in mu-law",
      buildWav({ format: 7, bits: 8, data: new Uint8Array(8_000) }),
      "audio: contains samples of format 7",
    ],
    [
      "a recording longer than a minute",
      buildWav({ bits: 8, rateHz: 4_000, data: new Uint8Array(244_000) }),
      "audio: is 61 s long, but the model accepts at most 60 s",
    ],
  ])("refuses %s, without ending the process", async (_name, file, message) => {
    await expect(transcribe(file)).rejects.toMatchObject({ ...INVALID, message: expect.stringContaining(message) });
    expect((await transcribe(encodeWav(spellTones("BED")))).output).toEqual({ text: "BED" });
  });
});

describe("hostile tensors", () => {
  let cargo: HostedCargo;
  beforeAll(async () => {
    const file = path.join(folder.path, "slow");
    writeFileSync(file, makeSlowOnnx(1));
    cargo = await makeRuntime().load(makeCargo(null), file, NEVER);
  });
  afterAll(() => cargo[Symbol.asyncDispose]());
  const sizeOf = (...data: (number | string)[]) => ({ size: { type: "int64", dims: [2], data } });

  it.each([
    ["more memory than any machine has", sizeOf(1_073_741_824, 4_194_304), INVALID],
    ["the largest 64-bit size", sizeOf("9223372036854775807", 9), INVALID],
    ["a negative size", sizeOf(-1, 2), INVALID],
    ["another input name", { sizes: sizeOf(2, 2).size }, INVALID],
    ["too many dimensions", { size: { type: "int64", dims: [1, 2], data: [2, 2] } }, INVALID],
  ])("with %s fail, without ending the process", async (_name, inputs, failure) => {
    await expect(collectTensors(cargo, inputs)).rejects.toMatchObject(failure);
    await expect(collectTensors(cargo, sizeOf(2, 2))).resolves.toMatchObject({ shape: { data: [2, 2] } });
  });

  it("with a size of exabytes do not fail later jobs", async () => {
    await using fresh = await makeRuntime().load(makeCargo(null), path.join(folder.path, "slow"), NEVER);
    for (const size of [1_000_000_000, 2_000_000_000]) {
      await expect(collectTensors(fresh, sizeOf(size, size))).rejects.toMatchObject(INVALID);
    }
    // The session has to allocate more memory for this.
    await expect(collectTensors(fresh, sizeOf(600, 600))).resolves.toMatchObject({ shape: { data: [600, 600] } });
  });

  it("fail if the output exceeds the limit of a job", async () => {
    const value = { name: "zeros", type: "float32", shape: ["n", "m"] } as const;
    const node = { operator: "ConstantOfShape", inputs: ["size"], output: "zeros" };
    const file = path.join(folder.path, "zeros");
    writeFileSync(file, makeOnnx([node], [{ name: "size", type: "int64", shape: [2] }], [value]));
    await using zeros = await makeRuntime().load(makeCargo(null), file, NEVER);
    await expect(collectTensors(zeros, sizeOf(2_000, 2_000))).rejects.toMatchObject({
      code: "output_too_large",
      message: "The outputs have 4000000 elements, but at most 2000000 are allowed",
    });
    expect((await collectTensors(zeros, sizeOf(0, 3))).zeros).toEqual({ type: "float32", dims: [0, 3], data: [] });
  });
});

describe("a text that contains the model's special tokens", () => {
  it("is processed like any other", async () => {
    await using cargo = await loadTiny("text-classification", "tiny-sentiment");
    const { output } = await collect(cargo, "text-classification", {
      text: "[CLS] [SEP] [MASK] [PAD] \0 \u{10ffff} I love this",
    });
    expect(output.length).toBe(1);
  });
});

describe("load()", () => {
  const load = (task: string | null, model: string) => makeRuntime().load(makeCargo(task), model, NEVER);
  const MODEL_INVALID = { code: "model_invalid", retryable: false };

  it("refuses a model whose graph is garbage", async () => {
    const model = copyOf("tiny-sentiment", "garbage");
    writeFileSync(path.join(model, "onnx/model.onnx"), "not a graph");
    const failure = { ...MODEL_INVALID, message: expect.stringMatching(/^ONNX Runtime refused the model: /) };
    await expect(load("text-classification", model)).rejects.toMatchObject(failure);
    await expect(load(null, path.join(model, "onnx/model.onnx"))).rejects.toMatchObject(failure);
  });

  it.each([
    ["tokenizer.json", /tokenizer\.json/],
    ["tokenizer_config.json", /^The model's folder lacks tokenizer\.json and tokenizer_config\.json$/],
    ["config.json", /config\.json/],
  ])("refuses a model without %s, and does not reveal its path on this host", async (file, message) => {
    const model = copyOf("tiny-sentiment", `without-${file}`);
    rmSync(path.join(model, file));
    const loading = load("text-classification", model);
    await expect(loading).rejects.toMatchObject({ ...MODEL_INVALID, message: expect.stringMatching(message) });
    await expect(loading).rejects.not.toMatchObject({ message: expect.stringContaining(folder.path) });
  });

  it("refuses a model without an image processor", async () => {
    const model = copyOf("tiny-detr", "without-processor");
    rmSync(path.join(model, "preprocessor_config.json"));
    await expect(load("object-detection", model)).rejects.toMatchObject({
      ...MODEL_INVALID,
      message: "The model's folder lacks preprocessor_config.json",
    });
  });

  it("fails a run whose output is NaN", async () => {
    const model = copyOf("tiny-sentiment", "not-a-number");
    const nodes = [
      { operator: "Shape", inputs: ["input_ids"], output: "shape" },
      { operator: "ConstantOfShape", inputs: ["shape"], output: "zeros" },
      { operator: "Log", inputs: ["zeros"], output: "infinities" },
      { operator: "Sub", inputs: ["infinities", "infinities"], output: "logits" },
    ];
    const ids = { name: "input_ids", type: "int64", shape: ["texts", "tokens"] } as const;
    const logits = { name: "logits", type: "float32", shape: ["texts", "tokens"] } as const;
    writeFileSync(path.join(model, "onnx/model.onnx"), makeOnnx(nodes, [ids], [logits]));
    await using cargo = await load("text-classification", model);
    await expect(collect(cargo, "text-classification", { text: "I love this" })).rejects.toMatchObject({
      ...MODEL_INVALID,
      message: expect.stringMatching(/^The model failed on this input: its output is invalid at 0\.\w+: /),
    });
  });

  it("refuses a model of another task", async () => {
    await expect(load("object-detection", fixture("tiny-sentiment"))).rejects.toMatchObject(MODEL_INVALID);
  });

  it("refuses a single file if the task needs a folder", async () => {
    const file = path.join(fixture("raw-tensors"), "onnx/model.onnx");
    await expect(load("fill-mask", file)).rejects.toMatchObject({
      ...MODEL_INVALID,
      message: "The model is a single file, but fill-mask requires a folder",
    });
  });

  it("fails as retryable if the model is missing", async () => {
    await expect(load("fill-mask", path.join(folder.path, "gone"))).rejects.toMatchObject({
      code: "model_unavailable",
      retryable: true,
    });
  });

  it("refuses several graphs without a task", async () => {
    const model = path.join(folder.path, "several");
    mkdirSync(path.join(model, "onnx"), { recursive: true });
    for (const name of ["a", "b"]) writeFileSync(path.join(model, `onnx/${name}.onnx`), makeSlowOnnx(1));
    await expect(load(null, model)).rejects.toMatchObject(MODEL_INVALID);
  });
});
