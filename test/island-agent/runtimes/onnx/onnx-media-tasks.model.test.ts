import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LoadedCargo } from "../../../../island-agent/runtimes/runtime.ts";
import { readWav } from "../../../../shared/audio/wav-file.ts";
import type { OnnxTask } from "../../../../shared/onnx-task.ts";
import { buildWav } from "../../../shared/audio/wav-builder.ts";
import { encodePng, type PaintedBox, paintBoxes } from "../../../support/models/test-images.ts";
import { countTones, encodeWav, makeTones, spellTones } from "../../../support/models/test-audio.ts";
import { collect, fixture, loadTiny, makeCargo, makeRuntime, NEVER, TemporaryFolder } from "./onnx-support.ts";

let cargo: LoadedCargo;
function withModel(task: OnnxTask, name: string): void {
  beforeAll(async () => {
    cargo = await loadTiny(task, name);
  });
  afterAll(() => cargo[Symbol.asyncDispose]());
}

const RED: PaintedBox = { colour: "red", left: 8, top: 16, right: 56, bottom: 64 };
const BLUE: PaintedBox = { colour: "blue", left: 72, top: 40, right: 112, bottom: 80 };

function pngOf(width: number, height: number, ...boxes: PaintedBox[]): string {
  return encodePng(width, height, boxes).toString("base64");
}

interface Grey {
  readonly width: number;
  readonly height: number;
  at(x: number, y: number): number;
}

/** Decodes a PNG of one channel. */
async function greyOf(base64: string): Promise<Grey> {
  const image = sharp(Buffer.from(base64, "base64"));
  expect(await image.metadata()).toMatchObject({ format: "png", channels: 1 });
  const { data, info } = await image.toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, at: (x, y) => data[y * info.width + x] ?? NaN };
}

describe("object-detection", () => {
  withModel("object-detection", "tiny-detr");
  const run = (input: object) => collect(cargo, "object-detection", input);

  it("returns boxes in pixels of the image, best first", async () => {
    const { output, usage } = await run({ image: pngOf(128, 96, RED, BLUE) });
    expect(output.map(({ label }) => label).toSorted()).toEqual(["blue box", "red box"]);
    expect(output[0]?.score).toBeGreaterThanOrEqual(output[1]?.score ?? 1);
    for (const { label, box } of output) {
      const painted = label === "red box" ? RED : BLUE;
      for (const [found, edge] of [
        [box.xmin, painted.left],
        [box.ymin, painted.top],
        [box.xmax, painted.right],
        [box.ymax, painted.bottom],
      ] as const) {
        expect(Math.abs(found - edge)).toBeLessThanOrEqual(10);
      }
    }
    expect(usage).toEqual({ promptTokens: 0, completionTokens: 0 });
  });

  it("returns nothing for an empty image or below the requested score", async () => {
    expect((await run({ image: pngOf(128, 96) })).output).toEqual([]);
    expect((await run({ image: pngOf(128, 96, RED), threshold: 1 })).output).toEqual([]);
  });

  it.each(["jpeg", "webp"] as const)("accepts %s, and rotates it as its EXIF data says", async (format) => {
    const pixels = paintBoxes(96, 128, [{ colour: "red", left: 16, top: 72, right: 64, bottom: 120 }]);
    const rotated = await sharp(pixels, { raw: { width: 96, height: 128, channels: 3 } })
      // Orientation 6 means a rotation by 90° clockwise, which moves the box from the lower left to the upper left.
      .withMetadata({ orientation: 6 })
      .toFormat(format)
      .toBuffer();
    const { output } = await run({ image: `data:image/${format};base64,${rotated.toString("base64")}` });
    expect(output.map(({ label }) => label)).toEqual(["red box"]);
    // The value is 64 if the image was rotated, and otherwise 120.
    expect(output[0]?.box.ymax).toBeLessThan(80);
  });

  it("reads transparent pixels as white, and grey images as coloured ones", async () => {
    const empty = await sharp({ create: { width: 64, height: 64, channels: 4, background: "#00000000" } })
      .png()
      .toBuffer();
    const white = await sharp({ create: { width: 64, height: 64, channels: 3, background: "white" } })
      .greyscale()
      .png()
      .toBuffer();
    const seen = await Promise.all([empty, white].map((file) => run({ image: file.toString("base64"), threshold: 0 })));
    expect(seen[0]?.output).toEqual(seen[1]?.output);
  });
});

describe("image-segmentation", () => {
  withModel("image-segmentation", "tiny-segformer");
  it("returns a mask for each segment, in the size of the image", async () => {
    const { output } = await collect(cargo, "image-segmentation", { image: pngOf(128, 96, RED) });
    expect(new Set(output.map(({ label }) => label))).toEqual(new Set(["ground", "red"]));
    for (const { label, score, mask } of output) {
      const grey = await greyOf(mask.data);
      expect([grey.width, grey.height, score]).toEqual([128, 96, null]);
      expect(grey.at(32, 40)).toBe(label === "red" ? 255 : 0);
      expect(grey.at(100, 20)).toBe(label === "red" ? 0 : 255);
    }
  });
});

describe("image-to-text", () => {
  withModel("image-to-text", "tiny-captioner");
  const green: PaintedBox = { ...RED, colour: "green" };

  it("describes the image", async () => {
    const { output, usage, finishReason } = await collect(cargo, "image-to-text", {
      image: pngOf(128, 96, green),
    });
    expect(output).toEqual({ text: "a green box on the left" });
    expect({ usage, finishReason }).toEqual({ usage: { promptTokens: 0, completionTokens: 6 }, finishReason: "stop" });
  });

  it('stops at the limit with finish reason "length"', async () => {
    const run = await collect(cargo, "image-to-text", { image: pngOf(128, 96, green), max_tokens: 2 });
    expect(run).toMatchObject({ output: { text: "a green" }, finishReason: "length", usage: { completionTokens: 2 } });
  });
});

describe("depth-estimation", () => {
  withModel("depth-estimation", "tiny-depth");
  it("returns an image of the same size with near pixels lighter", async () => {
    const white: PaintedBox = { ...RED, colour: "white" };
    const { output } = await collect(cargo, "depth-estimation", { image: pngOf(128, 96, white) });
    const grey = await greyOf(output.depth.data);
    expect([output.width, output.height, grey.width, grey.height]).toEqual([128, 96, 128, 96]);
    expect(grey.at(32, 40)).toBeGreaterThan(150);
    expect(grey.at(110, 80)).toBeLessThan(50);
  });
});

describe("automatic-speech-recognition with CTC", () => {
  withModel("automatic-speech-recognition", "tiny-ctc");
  const run = (input: object) => collect(cargo, "automatic-speech-recognition", input);

  it("transcribes the recording", async () => {
    const { output, usage } = await run({ audio: encodeWav(spellTones("CAB BED")).toString("base64") });
    expect(output).toEqual({ text: "CAB BED" });
    expect(usage).toEqual({ promptTokens: 0, completionTokens: 0 });
  });

  it("returns an empty text for silence", async () => {
    expect((await run({ audio: encodeWav(makeTones([0, 0, 0], 100)).toString("base64") })).output).toEqual({
      text: "",
    });
  });

  it("returns the same text for another rate, format and number of channels", async () => {
    // Each sample of 16 kHz, repeated three times on two channels, makes a recording of 48 kHz. That adds noise far
    // above 8 kHz.
    const samples = Float32Array.from(
      [...spellTones("BAD")].flatMap((sample) => Array.from({ length: 6 }, () => sample)),
    );
    const data = new Uint8Array(samples.buffer);
    const wav = buildWav({ format: 3, bits: 32, channels: 2, rateHz: 48_000, data });
    expect((await run({ audio: wav.toString("base64") })).output).toEqual({ text: "BAD" });
  });

  it.each([
    [{ timestamps: true }, "timestamps: must be false, because this model does not report times"],
    [{ chunk_length_s: 2 }, "chunk_length_s: this model processes the whole recording at once. Omit the parameter"],
    [{ language: "de" }, "language: this model supports only one language. Omit the parameter"],
    [{ task: "translate" }, 'task: must be "transcribe", because this model cannot translate'],
  ])("refuses %j", async (option, message) => {
    const audio = encodeWav(spellTones("CAB")).toString("base64");
    await expect(run({ audio, ...option })).rejects.toMatchObject({ code: "invalid_input", message });
  });
});

describe("automatic-speech-recognition with Whisper", () => {
  withModel("automatic-speech-recognition", "tiny-whisper");
  const run = (input: object) => collect(cargo, "automatic-speech-recognition", input);
  const audioOf = (...words: ("one" | "two" | "three" | "four" | "five")[]): string =>
    encodeWav(countTones(...words)).toString("base64");

  it("transcribes the recording", async () => {
    const { output, finishReason, usage } = await run({ audio: audioOf("one", "two", "three", "five", "four") });
    expect(output.text.trim()).toBe("one two three five four");
    expect(finishReason).toBe("stop");
    expect(usage.completionTokens).toBeGreaterThanOrEqual(5);
  });

  it("returns segment times if requested", async () => {
    const { output } = await run({ audio: audioOf("one", "two", "three", "five", "four"), timestamps: true });
    expect(output.chunks).toEqual([{ start_s: 0, end_s: 2, text: expect.stringContaining("one two three five four") }]);
  });

  it.each([{ language: "en" }, { language: "English", task: "transcribe" }])("accepts %j", async (options) => {
    expect((await run({ audio: audioOf("three", "one"), ...options })).output.text.trim()).toBe("three one");
  });

  it("refuses an unsupported language, and names the supported ones", async () => {
    await expect(run({ audio: audioOf("one"), language: "klingon" })).rejects.toMatchObject({
      code: "invalid_input",
      message: "language: must be one of en, fr",
    });
  });

  it("detects the language if none is given", async () => {
    using folder = new TemporaryFolder();
    cpSync(fixture("tiny-whisper"), folder.path, { recursive: true });
    const settings = path.join(folder.path, "generation_config.json");
    const generation = JSON.parse(readFileSync(settings, "utf8")) as { lang_to_id: Record<string, number> };
    const { "<|en|>": spoken } = generation.lang_to_id;
    // The recorded language is now French, and English has a token that the model lacks.
    writeFileSync(settings, JSON.stringify({ ...generation, lang_to_id: { "<|en|>": 1_000_000, "<|fr|>": spoken } }));
    await using french = await makeRuntime().load(makeCargo("automatic-speech-recognition"), folder.path, NEVER);
    const transcribe = (input: object) =>
      collect(french, "automatic-speech-recognition", { audio: audioOf("two", "four"), ...input });
    expect((await transcribe({})).output.text.trim()).toBe("two four");
    await expect(transcribe({ language: "english" })).rejects.toMatchObject({ code: "model_invalid" });
  });

  it.each([{}, { stride_length_s: 0.4 }])(
    "transcribes a recording longer than its window to the end: %j",
    async (more) => {
      const audio = audioOf("one", "two", "three", "four", "five", "one", "two", "three");
      const { output } = await run({ audio, ...more });
      expect(output.text).toContain("three");
      expect(output.text.trim().split(" ").length).toBeGreaterThan(5);
    },
  );

  it("transcribes a recording of many windows to the end", async () => {
    const audio = audioOf(...Array.from({ length: 80 }, () => ["one", "two", "three", "four", "five"] as const).flat());
    expect((await run({ audio })).output.text.trim().split(" ").length).toBeGreaterThan(300);
  });

  it("refuses a recording of more than 100 windows", async () => {
    const audio = encodeWav(new Float32Array(16_000 * 70)).toString("base64");
    await expect(run({ audio, chunk_length_s: 1 })).rejects.toMatchObject({
      code: "invalid_input",
      message:
        "chunk_length_s: 1 s splits the audio into 105 windows, but at most 100 are allowed. Use a longer chunk_length_s, a shorter stride_length_s or shorter audio",
    });
  });

  it("stops a long recording when aborted, without killing the process", async () => {
    // The time is longer than one step on a busy machine, and shorter than half an hour of audio takes on an idle one.
    const runtime = makeRuntime({ killAfterMs: 60_000 });
    await using cargoWithLongTimeout = await runtime.load(
      makeCargo("automatic-speech-recognition"),
      fixture("tiny-whisper"),
      NEVER,
    );
    const { pid } = cargoWithLongTimeout;
    const halfAnHour = buildWav({ bits: 8, rateHz: 11_025, data: new Uint8Array(11_025 * 1_800) });
    const controller = new AbortController();
    const input = { audio: halfAnHour.toString("base64") };
    const running = cargoWithLongTimeout.run({ input, resume: null }, () => {}, controller.signal);
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    const next = await collect(cargoWithLongTimeout, "automatic-speech-recognition", { audio: audioOf("one") });
    expect(next.output.text.trim()).toBe("one");
    expect(cargoWithLongTimeout.pid).toBe(pid);
  });
});

describe("text-to-speech", () => {
  withModel("text-to-speech", "tiny-vits");
  const run = (input: object) => collect(cargo, "text-to-speech", input);

  it("returns a WAV file", async () => {
    const { output, usage } = await run({ text: "Hello island" });
    const { samples, sampleRateHz } = readWav(Buffer.from(output.data, "base64"));
    expect([output.format, output.sampling_rate_hz, sampleRateHz, samples.length]).toEqual([
      "wav",
      16_000,
      16_000,
      12_800,
    ]);
    expect(Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length)).toBeCloseTo(0.35, 1);
    expect(usage.promptTokens).toBe(25);
  });

  it("accepts the voices in the model's folder", async () => {
    using folder = new TemporaryFolder();
    cpSync(fixture("tiny-vits"), folder.path, { recursive: true });
    mkdirSync(path.join(folder.path, "voices"));
    for (const voice of ["F1", "M2"]) writeFileSync(path.join(folder.path, `voices/${voice}.bin`), new Uint8Array(8));
    await using speaker = await makeRuntime().load(makeCargo("text-to-speech"), folder.path, NEVER);
    const speak = (input: object) => collect(speaker, "text-to-speech", { text: "hello", ...input });
    expect((await speak({ voice: "M2", speed: 2 })).output.format).toBe("wav");
    expect((await speak({})).output.format).toBe("wav");
    await expect(speak({ voice: "F2" })).rejects.toMatchObject({
      code: "invalid_input",
      message: "voice: must be one of F1, M2",
    });
  });

  it.each([
    [{ voice: "F1" }, "voice: this model supports only one voice. Omit the parameter"],
    [{ speed: 2 }, "speed: must be 1, because this model supports only one speed"],
  ])("refuses %j if the model has no such choice", async (option, message) => {
    await expect(run({ text: "hello", ...option })).rejects.toMatchObject({ code: "invalid_input", message });
  });
});
