import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readWav, writeWav } from "../../../shared/audio/wav-file.ts";
import { SHIPPED_CATALOG } from "../../support/small-catalog.ts";
import { TinyNetwork } from "./tiny-network.ts";

/** Words spoken by voices outside the training data. Source: tools/models/shipped/utterances.py. */
const SPOKEN = join(import.meta.dirname, "..", "..", "fixtures", "spoken");

interface Transcript {
  readonly text: string;
  readonly chunks?: readonly { readonly start_s: number; readonly end_s: number | null; readonly text: string }[];
}

let network: TinyNetwork;
beforeAll(async () => {
  network = await TinyNetwork.open(["tiny-speech"]);
});
afterAll(() => network[Symbol.asyncDispose]());

const hear = async (input: object): Promise<Transcript> => (await network.run("tiny-speech", input)) as Transcript;
const spoken = (name: string): string => readFileSync(join(SPOKEN, `${name}.wav`)).toString("base64");

/** Encodes repetitions of the recorded words as a file. */
function longRecording(rounds: number): Blob {
  const names = ["four-five-six", "yes-no-stop", "red-green-blue-seven", "hello-left-ten"];
  const once = names.flatMap((name) => [...readWav(readFileSync(join(SPOKEN, `${name}.wav`))).samples]);
  const samples = Float32Array.from(Array.from({ length: rounds }, () => once).flat());
  return new Blob([Uint8Array.from(writeWav({ samples, sampleRateHz: 16_000 }))]);
}

describe("tiny-speech", () => {
  it.each(["four five six", "yes no stop", "red green blue seven", "hello left ten"])(
    "transcribes %j",
    async (words) => {
      const { text } = await hear({ audio: spoken(words.replaceAll(" ", "-")) });
      expect(text.trim()).toBe(words);
    },
  );
  it("returns the start and end of words", async () => {
    const { chunks } = await hear({ audio: spoken("four-five-six"), timestamps: true });
    expect(chunks?.map(({ text }) => text.trim())).toEqual(["four five six"]);
    // A silence of 0.4 s precedes and follows the words.
    const { start_s: startS = -1, end_s: endS } = chunks?.[0] ?? {};
    const lengthS = readFileSync(join(SPOKEN, "four-five-six.wav")).length / 32_000;
    expect(startS).toBeGreaterThan(0.25);
    expect(startS).toBeLessThan(0.55);
    expect(endS).toBeGreaterThan(lengthS - 0.7);
    expect(endS).toBeLessThanOrEqual(lengthS);
  });
  it("transcribes its example, which has half the sample rate", async () => {
    const { example_input: example } = JSON.parse(
      readFileSync(join(SHIPPED_CATALOG, "cargos", "tiny-speech.json"), "utf8"),
    ) as { example_input: object };
    expect((await hear(example)).text.trim()).toBe("yes");
  });
  it("transcribes a recording of many windows, with increasing times", async () => {
    const form = new FormData();
    form.set("model", "tiny-speech");
    form.set("response_format", "verbose_json");
    form.set("file", longRecording(8), "long.wav");
    const response = await network.postForm("/audio/transcriptions", form);
    const { text, duration, segments } = (await response.json()) as {
      text: string;
      duration: number;
      segments: { start: number; end: number }[];
    };
    expect(duration).toBeGreaterThan(100);
    // The model misrecognizes some words at the window boundaries.
    expect(text.match(/red green blue seven/g)).toHaveLength(8);
    expect(segments.length).toBeGreaterThan(10);
    const times = segments.flatMap(({ start, end }) => [start, end]);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThan(duration - 2);
    expect(times.at(-1)).toBeLessThanOrEqual(duration);
  });
});
