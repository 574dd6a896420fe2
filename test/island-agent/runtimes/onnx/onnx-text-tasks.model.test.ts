import { cpSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LoadedCargo } from "../../../../island-agent/runtimes/runtime.ts";
import type { OnnxTask } from "../../../../shared/onnx-task.ts";
import { collect, fixture, loadTiny, makeCargo, makeRuntime, NEVER, TemporaryFolder } from "./onnx-support.ts";

let cargo: LoadedCargo;
function withModel(task: OnnxTask, name: string, weights?: "q8"): void {
  beforeAll(async () => {
    cargo = await loadTiny(task, name, weights === undefined ? {} : { weights });
  });
  afterAll(() => cargo[Symbol.asyncDispose]());
}

function cosine(a: readonly number[] = [], b: readonly number[] = []): number {
  const dot = (x: readonly number[], y: readonly number[]): number => x.reduce((sum, v, i) => sum + v * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

const LONG = "the food was good and ".repeat(200);
const TOO_LONG = { code: "context_length_exceeded", retryable: false };

describe("text-classification", () => {
  withModel("text-classification", "tiny-sentiment");
  const run = (input: object) => collect(cargo, "text-classification", input);

  it.each([
    ["I love this", "POSITIVE"],
    ["I hate this", "NEGATIVE"],
    ["The food was not good.", "NEGATIVE"],
  ])("labels %j as %s", async (text, label) => {
    const { output } = await run({ text });
    expect(output).toEqual([{ label, score: expect.closeTo(1, 1) }]);
  });

  it("returns up to top_k labels, best first", async () => {
    const { output } = await run({ text: "I love this", top_k: 100 });
    expect(output.map(({ label }) => label)).toEqual(["POSITIVE", "NEGATIVE"]);
  });

  it("counts the tokens of the text, including special tokens", async () => {
    const { usage } = await run({ text: "I love this" });
    expect(usage).toEqual({ promptTokens: 5, completionTokens: 0 });
  });

  it("refuses a text that exceeds the model's context", async () => {
    await expect(run({ text: LONG })).rejects.toMatchObject({
      ...TOO_LONG,
      message: expect.stringMatching(/^text: has \d+ tokens, but the model accepts at most \d+$/),
    });
  });
});

describe("text-classification in q8", () => {
  withModel("text-classification", "tiny-sentiment", "q8");
  it("returns the same label as full precision", async () => {
    const { output } = await collect(cargo, "text-classification", { text: "I love this" });
    expect(output).toMatchObject([{ label: "POSITIVE" }]);
  });
});

describe("feature-extraction", () => {
  withModel("feature-extraction", "tiny-embedder");
  const run = (input: object) => collect(cargo, "feature-extraction", input);

  it("returns near vectors for texts of similar meaning, and far ones for others", async () => {
    const { output } = await run({ input: ["the cat sleeps", "a kitten naps", "the dog barks", "stocks fell today"] });
    const [cat, ...others] = output.embeddings;
    const [kitten = 0, dog = 1, stocks = 1] = others.map((vector) => cosine(cat, vector));
    expect(kitten).toBeGreaterThan(0.9);
    expect(dog).toBeLessThan(0.3);
    expect(stocks).toBeLessThan(0.3);
  });

  it("returns vectors of length 1, unless normalize is false", async () => {
    const lengthOf = async (input: object): Promise<number> =>
      Math.hypot(...((await run(input)).output.embeddings[0] ?? []));
    expect(await lengthOf({ input: "the cat sleeps" })).toBeCloseTo(1, 5);
    expect(await lengthOf({ input: "the cat sleeps", normalize: false })).not.toBeCloseTo(1, 2);
  });

  it.each(["mean", "cls"])("returns the same vector for a text in any batch (%s)", async (pooling) => {
    const texts = ["the cat sleeps", "stocks fell today and the dog barks at the cat", "hello"];
    const { output } = await run({ input: texts, pooling });
    for (const [i, text] of texts.entries()) {
      const alone = await run({ input: text, pooling });
      for (const [at, value] of (output.embeddings[i] ?? []).entries()) {
        expect(value).toBeCloseTo(alone.output.embeddings[0]?.[at] ?? NaN, 5);
      }
    }
  });

  it("keeps the order of the texts and reports progress by batch", async () => {
    const texts = Array.from({ length: 900 }, (_, i) =>
      i % 2 === 0 ? "the cat sleeps" : "stocks fell today and rose again",
    );
    const { output, items } = await run({ input: texts });
    expect(output.embeddings.length).toBe(900);
    expect(cosine(output.embeddings[0], output.embeddings[898])).toBeCloseTo(1, 4);
    expect(cosine(output.embeddings[0], output.embeddings[899])).toBeLessThan(0.5);
    const steps = items.map((item) => (item.type === "progress" ? item.step : -1));
    expect(steps.length).toBeGreaterThan(1);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(items.at(-1)).toEqual({ type: "progress", step: 900, total: 900 });
  });

  it('returns a vector for each token if pooling is "none"', async () => {
    const { output, usage } = await run({ input: ["the cat sleeps"], pooling: "none" });
    expect(output.embeddings.length).toBe(usage.promptTokens);
  });

  it("names the text that exceeds the model's context", async () => {
    await expect(run({ input: ["hello", LONG] })).rejects.toMatchObject({
      ...TOO_LONG,
      message: expect.stringMatching(/^input\.1: has/),
    });
  });
});

describe("feature-extraction in q8", () => {
  withModel("feature-extraction", "tiny-embedder", "q8");
  it("returns exactly the same vector for a text in any request", async () => {
    const run = (input: string[]) => collect(cargo, "feature-extraction", { input });
    const alone = await run(["the cat sleeps"]);
    const together = await run(["stocks fell today and rose again", "the cat sleeps", "hello"]);
    expect(together.output.embeddings[1]).toEqual(alone.output.embeddings[0]);
  });
});

describe("token-classification", () => {
  withModel("token-classification", "tiny-ner");
  it("labels persons, organisations and locations", async () => {
    const { output } = await collect(cargo, "token-classification", {
      text: "Ada Lovelace works for Acme in New York.",
    });
    expect(output.map(({ entity, word }) => `${entity} ${word}`)).toEqual([
      "B-PER ada",
      "I-PER lovelace",
      "B-ORG acme",
      "B-LOC new",
      "I-LOC york",
    ]);
    expect(output.map(({ index }) => index)).toEqual(output.map(({ index }) => index).toSorted((a, b) => a - b));
  });

  it("returns nothing for a text without names", async () => {
    const { output } = await collect(cargo, "token-classification", { text: "works for in" });
    expect(output).toEqual([]);
  });
});

describe("question-answering", () => {
  withModel("question-answering", "tiny-qa");
  const context = "John lives in Paris and likes cheese. The weather is good.";
  const run = (input: object) => collect(cargo, "question-answering", input);

  it.each([
    ["Where does John live?", "paris"],
    ["What does John like?", "cheese"],
    ["Who lives in Paris?", "john"],
  ])("answers %j with %j", async (question, answer) => {
    const { output, usage } = await run({ question, context });
    expect(output).toEqual({ answer, score: expect.any(Number) });
    expect(output.score).toBeGreaterThan(0.5);
    expect(usage.promptTokens).toBeGreaterThan(15);
  });

  it("refuses a context that exceeds the model's, because the answer may be in the part cut off", async () => {
    await expect(run({ question: "Who?", context: LONG })).rejects.toMatchObject(TOO_LONG);
  });
});

describe("zero-shot-classification", () => {
  withModel("zero-shot-classification", "tiny-nli");
  const labels = ["animals", "money", "weather", "food"];
  const run = (input: object) => collect(cargo, "zero-shot-classification", input);

  it("ranks the labels, and reports progress after each label", async () => {
    const { output, items } = await run({ text: "Stocks fell today", labels });
    expect(output.labels[0]).toBe("money");
    expect(output.scores[0]).toBeGreaterThan(0.9);
    expect(output.labels.toSorted()).toEqual(labels.toSorted());
    expect(output.scores).toEqual(output.scores.toSorted((a, b) => b - a));
    expect(items).toEqual([1, 2, 3, 4].map((step) => ({ type: "progress", step, total: 4 })));
  });

  it("scores each label independently with multi_label", async () => {
    const { output } = await run({ text: "Stocks fell today", labels: ["money", "money"], multi_label: true });
    for (const score of output.scores) expect(score).toBeGreaterThan(0.9);
  });
});

describe("fill-mask", () => {
  withModel("fill-mask", "tiny-mlm");
  const run = (input: object) => collect(cargo, "fill-mask", input);

  it("returns the word and the complete sentence", async () => {
    const { output } = await run({ text: "Paris is the capital of [MASK].", top_k: 2 });
    expect(output).toMatchObject([{ token: "france", sequence: expect.stringContaining("capital of france") }, {}]);
    expect(output[0]?.score).toBeGreaterThan(0.9);
  });

  it.each([
    ["Paris is the capital of France.", "0 times"],
    ["[MASK] is the capital of [MASK].", "2 times"],
  ])("refuses %j", async (text, times) => {
    await expect(run({ text })).rejects.toMatchObject({
      code: "invalid_input",
      message: `text: must contain [MASK] exactly once, but contains it ${times}`,
    });
  });
});

describe("translation", () => {
  withModel("translation", "tiny-marian");
  const run = (input: object) => collect(cargo, "translation", input);

  it.each([
    ["The girl sees a red boat", "la fille voit un bateau rouge"],
    ["hello world", "bonjour le monde"],
  ])("translates %j", async (text, translation) => {
    const { output, finishReason, usage } = await run({ text });
    expect(output).toEqual({ translation });
    expect(finishReason).toBe("stop");
    expect(usage.completionTokens).toBe(translation.split(" ").length);
  });

  it('stops at the limit with finish reason "length"', async () => {
    const { output, finishReason, usage } = await run({ text: "The girl sees a red boat", max_length: 2 });
    expect({ output, finishReason, tokens: usage.completionTokens }).toEqual({
      output: { translation: "la fille" },
      finishReason: "length",
      tokens: 2,
    });
  });

  it("refuses a language if the model supports only one pair", async () => {
    await expect(run({ text: "hello world", tgt_lang: "de" })).rejects.toMatchObject({
      code: "invalid_input",
      message: "tgt_lang: this model supports only one pair of languages. Omit the parameter",
    });
  });
});

describe("translation with a multilingual model", () => {
  const folder = new TemporaryFolder();
  afterAll(() => folder[Symbol.dispose]());
  cpSync(fixture("tiny-marian"), folder.path, { recursive: true });
  const edit = (file: string, change: (json: Record<string, unknown>) => void): void => {
    const json = JSON.parse(readFileSync(path.join(folder.path, file), "utf8")) as Record<string, unknown>;
    change(json);
    writeFileSync(path.join(folder.path, file), JSON.stringify(json));
  };

  it("requires both languages to be among the model's", async () => {
    // NLLB's tokenizer reads its languages from the special tokens. These ids are words of the model.
    edit("tokenizer_config.json", (json) => (json["tokenizer_class"] = "NllbTokenizer"));
    edit("tokenizer.json", (json) => {
      const token = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
      const languages = ["eng_Latn", "fra_Latn"].map((content, i) => ({ ...token, content, id: 10 + i }));
      (json["added_tokens"] as object[]).push(...languages);
    });
    await using cargo = await makeRuntime().load(makeCargo("translation"), folder.path, NEVER);
    const run = (input: object) => collect(cargo, "translation", { text: "hello world", ...input });
    const known = "must be one of eng_Latn, fra_Latn";
    for (const [input, message] of [
      [{}, `src_lang: ${known}`],
      [{ src_lang: "eng_Latn" }, `tgt_lang: ${known}`],
      [{ src_lang: "eng_Latn", tgt_lang: "deu_Latn" }, `tgt_lang: ${known}`],
    ] as const) {
      await expect(run(input)).rejects.toMatchObject({ code: "invalid_input", message });
    }
    expect((await run({ src_lang: "eng_Latn", tgt_lang: "fra_Latn" })).output.translation).toEqual(expect.any(String));
  });
});

describe("summarization", () => {
  withModel("summarization", "tiny-bart");
  const text =
    "The weather was fine. Last week a fisherman found a shipwreck near the coast. Many people came to watch.";
  const run = (input: object) => collect(cargo, "summarization", input);

  it("summarizes the text", async () => {
    const { output, finishReason } = await run({ text });
    expect({ output, finishReason }).toEqual({
      output: { summary: "a fisherman found a shipwreck." },
      finishReason: "stop",
    });
  });

  it('stops at the limit with finish reason "length"', async () => {
    const { usage, finishReason } = await run({ text, max_length: 2 });
    expect(usage.completionTokens).toBeLessThanOrEqual(2);
    expect(finishReason).toBe("length");
  });
});
