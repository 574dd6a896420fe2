import { cpSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LoadedCargo } from "../../../../island-agent/runtimes/runtime.ts";
import type { OnnxOutput } from "../../../../shared/onnx-task.ts";
import { countTones, encodeWav } from "../../../support/models/test-audio.ts";
import { collect, fixture, loadTiny, makeCargo, makeRuntime, NEVER, TemporaryFolder } from "./onnx-support.ts";

/**
 * Length of each word, and the largest accepted error of its times, because `tiny-whisper` was not trained for times.
 */
const WORD_S = 0.4;
const TOLERANCE_S = 0.45;

let cargo: LoadedCargo;
beforeAll(async () => {
  cargo = await loadTiny("automatic-speech-recognition", "tiny-whisper");
});
afterAll(() => cargo[Symbol.asyncDispose]());

const run = (input: object) => collect(cargo, "automatic-speech-recognition", input);
const audioOf = (...words: ("one" | "two" | "three" | "four" | "five")[]): string =>
  encodeWav(countTones(...words)).toString("base64");

/** Expects consecutive words, each near its position in the recording. */
function expectWordTimes(chunks: OnnxOutput<"automatic-speech-recognition">["chunks"] = []): void {
  for (const [index, { start_s: start, end_s: end }] of chunks.entries()) {
    expect(end ?? NaN).toBeGreaterThan(start);
    expect(Math.abs(start - index * WORD_S)).toBeLessThan(TOLERANCE_S);
    expect(Math.abs((end ?? NaN) - (index + 1) * WORD_S)).toBeLessThan(TOLERANCE_S);
  }
}

describe("automatic-speech-recognition with word timestamps", () => {
  it("returns the start and end of each word, even across windows", async () => {
    const { output } = await run({ audio: audioOf("one", "two", "three", "five", "four"), timestamps: "word" });
    expect(output.chunks?.map(({ text }) => text.trim())).toEqual(["one", "two", "three", "five", "four"]);
    expectWordTimes(output.chunks);
    const words = ["one", "two", "three", "five", "four", "one", "two", "three", "five", "four", "two", "two"] as const;
    const long = await run({ audio: audioOf(...words), timestamps: "word", chunk_length_s: 2, stride_length_s: 0.4 });
    expect(long.output.chunks?.map(({ text }) => text.trim())).toEqual(words);
    expectWordTimes(long.output.chunks);
  });

  it.each([
    ["export without cross attentions", "onnx/decoder_model_merged.onnx", "cross_attentions.", "cross-attentions."],
    ["model without alignment heads", "generation_config.json", '"alignment_heads"', '"other_heads"'],
  ])("refuses word timestamps for a %s", async (_title, file, from, to) => {
    using folder = new TemporaryFolder();
    cpSync(fixture("tiny-whisper"), folder.path, { recursive: true });
    const bytes = readFileSync(path.join(folder.path, file), "latin1");
    writeFileSync(path.join(folder.path, file), bytes.replaceAll(from, to), "latin1");
    await using other = await makeRuntime().load(makeCargo("automatic-speech-recognition"), folder.path, NEVER);
    const transcribe = (timestamps: unknown) =>
      collect(other, "automatic-speech-recognition", { audio: audioOf("two", "four"), timestamps });
    await expect(transcribe("word")).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("timestamps: this model reports only segment times"),
    });
    expect((await transcribe("segment")).output.chunks).toHaveLength(1);
  });

  it.each([
    [{ chunk_length_s: 3 }, "chunk_length_s: must be at most 2 s, the model's window, got 3 s"],
    [{ stride_length_s: 0.6 }, "stride_length_s: must be at most 0.5 s, a quarter of the window, got 0.6 s"],
  ])("refuses windows of %j", async (windows, message) => {
    await expect(run({ audio: audioOf("one"), ...windows })).rejects.toMatchObject({ code: "invalid_input", message });
  });
});
