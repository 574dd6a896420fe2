import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { env, pipeline, RawImage } from "@huggingface/transformers";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { beforeAll, describe, expect, it } from "vitest";
import { encodePng, type PaintedBox } from "../support/models/test-images.ts";
import { countTones, spellTones } from "../support/models/test-audio.ts";

/*
 * Checks the output of the models of test/fixtures/onnx in transformers.js against the README of the models. The tests
 * of the onnx runtime rely on it, and rebuilt models must pass this test.
 */

const FIXTURES = join(import.meta.dirname, "..", "fixtures", "onnx");
const OPTIONS = {
  dtype: "fp32",
  device: "cpu",
  local_files_only: true,
  session_options: { intraOpNumThreads: 1 },
} as const;

beforeAll(() => {
  env.allowRemoteModels = false;
  env.useFSCache = false;
  env.localModelPath = FIXTURES;
  env.fetch = () => Promise.reject(new Error("A model requested a file outside its folder"));
});

/** Decodes a PNG file, which is the format of inputs. */
const picture = (width: number, height: number, ...boxes: PaintedBox[]): Promise<RawImage> =>
  RawImage.fromBlob(new Blob([Uint8Array.from(encodePng(width, height, boxes))]));
const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? NaN), 0);

it("every folder is in the README and smaller than 1 MB, and all folders together are smaller than 4 MB", () => {
  const readme = readFileSync(join(FIXTURES, "README.md"), "utf8");
  const folders = readdirSync(FIXTURES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const sizes = folders.map(({ name }) => {
    expect(readme).toContain(`| \`${name}\` |`);
    const files = readdirSync(join(FIXTURES, name), { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    return files.reduce((bytes, file) => bytes + statSync(join(file.parentPath, file.name)).size, 0);
  });
  expect(Math.max(...sizes)).toBeLessThan(1_000_000);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(4_000_000);
});

describe.each(["fp32", "q8"] as const)("text models in %s", (dtype) => {
  it("tiny-sentiment distinguishes praise and blame, including negation", async () => {
    const classify = await pipeline("text-classification", "tiny-sentiment", { ...OPTIONS, dtype });
    const labels = await classify([
      "I love this",
      "I hate this",
      "The food was not good.",
      "This is not bad",
      "What a lovely day",
    ]);
    expect(labels.map(({ label }) => label)).toEqual(["POSITIVE", "NEGATIVE", "NEGATIVE", "POSITIVE", "POSITIVE"]);
    for (const { score } of labels) expect(score).toBeGreaterThan(0.99);
    await classify.dispose();
  });

  it("tiny-embedder gives similar vectors to similar meanings", async () => {
    const embed = await pipeline("feature-extraction", "tiny-embedder", { ...OPTIONS, dtype });
    const vectors = await embed(["the cat sleeps", "a kitten naps", "the dog barks", "stocks fell today"], {
      pooling: "mean",
      normalize: true,
    });
    expect(vectors.dims).toEqual([4, 32]);
    const [cat, kitten, dog, stocks] = vectors.tolist() as [number[], number[], number[], number[]];
    expect(dot(cat, cat)).toBeCloseTo(1, 5);
    expect(dot(cat, kitten)).toBeGreaterThan(0.9);
    expect(dot(cat, dog)).toBeLessThan(0.3);
    expect(dot(cat, stocks)).toBeLessThan(0.3);
    await embed.dispose();
  });
});

describe("text models", () => {
  it("tiny-ner finds persons, organisations and places", async () => {
    const find = await pipeline("token-classification", "tiny-ner", OPTIONS);
    const found = await find("Ada Lovelace works for Acme in New York.");
    expect(found.map((token) => ("entity" in token ? `${token.entity} ${token.word} ${token.index}` : ""))).toEqual([
      "B-PER ada 1",
      "I-PER lovelace 2",
      "B-ORG acme 5",
      "B-LOC new 7",
      "I-LOC york 8",
    ]);
    const groups = await find("Ada Lovelace works for Acme in New York.", { aggregation_strategy: "simple" });
    expect(groups).toMatchObject([
      { entity_group: "PER", word: "ada lovelace" },
      { entity_group: "ORG", word: "acme" },
      { entity_group: "LOC", word: "new york" },
    ]);
    await find.dispose();
  });

  it("tiny-qa answers who, where and what", async () => {
    const ask = await pipeline("question-answering", "tiny-qa", OPTIONS);
    const context = "John lives in Paris and likes cheese. The weather is good.";
    expect(await ask("Where does John live?", context)).toMatchObject({ answer: "paris" });
    expect(await ask("What does John like?", context)).toMatchObject({ answer: "cheese" });
    expect(await ask("Who lives in Paris?", context)).toMatchObject({ answer: "john" });
    await ask.dispose();
  });

  it("tiny-nli distinguishes the given topics", async () => {
    const sort = await pipeline("zero-shot-classification", "tiny-nli", OPTIONS);
    const labels = ["money", "animals", "weather", "food"];
    for (const [text, topic] of [
      ["Stocks fell today", "money"],
      ["A dog barks again", "animals"],
      ["The soup is hot", "food"],
    ] as const) {
      const result = await sort(text, labels);
      expect(result).toMatchObject({ sequence: text, labels: expect.arrayContaining(labels) });
      expect(result).toHaveProperty("labels.0", topic);
      expect((result as { scores: number[] }).scores[0]).toBeGreaterThan(0.9);
    }
    const each = await sort("the dog barks", labels, { multi_label: true });
    expect(each).toHaveProperty("labels.0", "animals");
    await sort.dispose();
  });

  it("tiny-mlm completes sentences about capitals and their countries", async () => {
    const fill = await pipeline("fill-mask", "tiny-mlm", OPTIONS);
    const [best, ...others] = (await fill("Paris is the capital of [MASK].", { top_k: 3 })) as {
      token_str: string;
      sequence: string;
      score: number;
    }[];
    expect(best).toMatchObject({ token_str: "france", sequence: "paris is the capital of france." });
    expect(best?.score).toBeGreaterThan(0.9);
    expect(others).toHaveLength(2);
    expect(await fill("the capital of Japan is [MASK].")).toHaveProperty("0.token_str", "tokyo");
    await fill.dispose();
  });
});

describe("text generation models", () => {
  it("tiny-marian translates English to French", async () => {
    const translate = await pipeline("translation", "tiny-marian", OPTIONS);
    expect(await translate("The girl sees a red boat")).toEqual([
      { translation_text: "la fille voit un bateau rouge" },
    ]);
    expect(await translate("a black cat finds the island")).toEqual([
      { translation_text: "un chat noir trouve l'île" },
    ]);
    expect(await translate("Hello world")).toEqual([{ translation_text: "bonjour le monde" }]);
    await translate.dispose();
  });

  it("tiny-bart summarizes who did what in a report", async () => {
    const summarise = await pipeline("summarization", "tiny-bart", OPTIONS);
    const report =
      "The weather was fine. Last week a fisherman found a shipwreck near the coast. Many people came to watch.";
    expect(await summarise(report)).toEqual([{ summary_text: "a fisherman found a shipwreck." }]);
    await summarise.dispose();
  });
});

describe("speech models", () => {
  it("tiny-ctc transcribes tones as letters", async () => {
    const listen = await pipeline("automatic-speech-recognition", "tiny-ctc", OPTIONS);
    for (const text of ["ABABA", "CAB BED", "AABB"]) expect(await listen(spellTones(text))).toEqual({ text });
    await listen.dispose();
  });

  it("tiny-whisper transcribes a word per tone, with times", async () => {
    const listen = await pipeline("automatic-speech-recognition", "tiny-whisper", OPTIONS);
    const sound = countTones("one", "two", "three", "five", "four");
    expect(await listen(sound)).toEqual({ text: " one two three five four" });
    expect(await listen(sound, { return_timestamps: true, language: "en", task: "transcribe" })).toEqual({
      text: " one two three five four",
      chunks: [{ timestamp: [0, 2], text: " one two three five four" }],
    });
    await listen.dispose();
  });

  it("tiny-vits generates 512 samples per letter and blank, reproducibly", async () => {
    const speak = await pipeline("text-to-speech", "tiny-vits", OPTIONS);
    const [first, second] = [await speak("Hello island"), await speak("Hello island")];
    expect(first.sampling_rate).toBe(16_000);
    expect(first.data).toHaveLength(512 * (2 * "hello island".length + 1));
    expect(first.data).toEqual(second.data);
    const loudness = Math.sqrt(first.data.reduce((sum, x) => sum + x * x, 0) / first.data.length);
    expect(loudness).toBeGreaterThan(0.05);
    expect(loudness).toBeLessThan(0.9);
    await speak.dispose();
  });
});

describe("vision models", () => {
  it("tiny-detr finds the red and the blue box, in pixels of the image", async () => {
    const detect = await pipeline("object-detection", "tiny-detr", OPTIONS);
    const red = { colour: "red", left: 8, top: 16, right: 56, bottom: 64 } as const;
    const blue = { colour: "blue", left: 72, top: 40, right: 120, bottom: 88 } as const;
    const found = await detect(await picture(128, 96, red, blue), { threshold: 0.8 });
    expect(found.map(({ label }) => label).sort()).toEqual(["blue box", "red box"]);
    for (const { label, box } of found) {
      const { left, top, right, bottom } = label === "red box" ? red : blue;
      for (const [edge, wanted] of [
        [box.xmin, left],
        [box.ymin, top],
        [box.xmax, right],
        [box.ymax, bottom],
      ] as const)
        expect(Math.abs(edge - wanted)).toBeLessThan(8);
    }
    expect(await detect(await picture(128, 96), { threshold: 0.8 })).toEqual([]);
    await detect.dispose();
  });

  it("tiny-segformer masks the red and the blue box at the size of the image", async () => {
    const segment = await pipeline("image-segmentation", "tiny-segformer", OPTIONS);
    const red = { colour: "red", left: 0, top: 0, right: 32, bottom: 32 } as const;
    const parts = await segment(await picture(64, 64, red));
    expect(parts.map(({ label }) => label)).toEqual(["ground", "red"]);
    const mask = parts[1]?.mask;
    expect([mask?.width, mask?.height, mask?.channels]).toEqual([64, 64, 1]);
    const at = (x: number, y: number): number | undefined => mask?.data[y * 64 + x];
    expect([at(4, 4), at(24, 24), at(40, 16), at(60, 60)]).toEqual([255, 255, 0, 0]);
    await segment.dispose();
  });

  it("tiny-captioner names the colour and position of a box", async () => {
    const describe = await pipeline("image-to-text", "tiny-captioner", OPTIONS);
    const green = { colour: "green", left: 4, top: 20, right: 28, bottom: 44 } as const;
    const white = { colour: "white", left: 36, top: 8, right: 60, bottom: 32 } as const;
    expect(await describe(await picture(64, 64, green))).toEqual([{ generated_text: "a green box on the left" }]);
    expect(await describe(await picture(64, 64, white))).toEqual([{ generated_text: "a white box on the right" }]);
    expect(await describe(await picture(64, 64))).toEqual([{ generated_text: "nothing" }]);
    await describe.dispose();
  });

  it("tiny-depth estimates bright pixels as near, at the size of the image", async () => {
    const estimate = await pipeline("depth-estimation", "tiny-depth", OPTIONS);
    const { predicted_depth, depth } = await estimate(
      await picture(64, 48, { colour: "white", left: 16, top: 12, right: 40, bottom: 36 }),
    );
    expect(predicted_depth.dims).toEqual([48, 64]);
    expect([depth.width, depth.height, depth.channels]).toEqual([64, 48, 1]);
    expect(depth.data[24 * 64 + 28]).toBeGreaterThan(200);
    expect(depth.data[2 * 64 + 60]).toBeLessThan(50);
    await estimate.dispose();
  });
});

describe("a model without a task", () => {
  it("raw-tensors outputs features times weights plus the row of their kind, and the best column", async () => {
    const session = await InferenceSession.create(join(FIXTURES, "raw-tensors", "onnx", "model.onnx"), {
      intraOpNumThreads: 1,
    });
    expect(session.inputMetadata).toMatchObject([
      { name: "features", type: "float32", shape: ["rows", 2] },
      { name: "kind", type: "int64", shape: ["rows"] },
    ]);
    const { scores, best } = await session.run({
      features: new Tensor("float32", Float32Array.of(1, 2, 3, 4, 5, 6), [3, 2]),
      kind: new Tensor("int64", BigInt64Array.of(0n, 0n, 1n), [3]),
    });
    expect(scores).toMatchObject({ type: "float32", dims: [3, 3], data: Float32Array.of(1, 2, 0, 3, 4, 2, 15, 6, 4) });
    expect(best).toMatchObject({ type: "int64", dims: [3], data: BigInt64Array.of(1n, 1n, 0n) });
    await session.release();
  });
});
