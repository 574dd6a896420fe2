import { mkdtempSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requirePython } from "../sdk/debian-python.ts";
import { Network } from "../support/network/network.ts";
import { makeCatalog } from "../support/small-catalog.ts";
import { printed, runPython } from "./run-example.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const SPOKEN = join(ROOT, "test", "fixtures", "spoken");
requirePython("httpx");

/** Length of the WAV header, because the fixtures have no other chunks before their samples. */
const WAV_HEAD = 44;
const SAMPLE_RATE = 16_000;

describe("examples with the small Cargos", () => {
  let network: Network;
  let env: Record<string, string>;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "atoll-examples-"));
    const catalog = makeCatalog(["tiny-chat", "tiny-embed", "tiny-picture", "tiny-speech"]);
    network = await Network.open(["--catalog-directory", catalog]);
    const account = network.createAccount("client@example.com");
    env = { ATOLL_BASE_URL: network.url, ATOLL_API_KEY: account.key };
    await network.startIsland("island", account.islandToken, { "cargos.allow_runtimes": "llmcpp, onnx, diffusers" });
  });
  afterAll(async () => {
    await network[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it("rag.py finds the relevant passage among the repository's documents", async () => {
    const notes = join(folder, "notes.md");
    await writeFile(
      notes,
      "# Notes\n\nThe lagoon is made of coral.\n\nThe ferry sank in the storm.\n\nThe cook makes a cake.\n",
    );
    const documents = ["concepts.md", "use/files-and-batches.md"].map((name) => join(ROOT, "docs", name));
    const args = ["rag.py", "--top", "2", "was the reef built by corals?", notes, ...documents];
    const lines = (await printed(runPython(args, env))).split("\n");
    expect(lines[0]).toMatch(/^\[0\.\d\d\] notes\.md, Notes: 'Notes: The lagoon is made of coral\.'$/);
    expect(lines[1]).toMatch(/^\[0\.\d\d\] \w+\.md, /);
    // The completion of tiny-chat is not checked.
    expect(lines[2]).not.toBe("");
    expect(await runPython(["rag.py", "--rerank-model", "nothing", "Is it?", notes], env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^model_not_found: /),
    });
    expect(await runPython(["rag.py", "Is it?"], env)).toMatchObject({ code: 2 });
  });

  it("picture.py writes an image of the requested colour", async () => {
    const file = join(folder, "picture.png");
    expect(await printed(runPython(["picture.py", "--seed", "7", "a big red square", file], env))).toMatch(
      /picture\.png: \d+ bytes\n$/,
    );
    const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, info.format]).toEqual([64, 64, "raw"]);
    const middle = 3 * (32 * 64 + 32);
    const [red = 0, green = 0, blue = 0] = data.subarray(middle, middle + 3);
    expect(red).toBeGreaterThan(2 * Math.max(green, blue));
    const refused = await runPython(["picture.py", "--size", "63x64", "a red circle", file], env);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^validation_failed: size: /) });
  });

  it("transcribe.py transcribes a minute in order, split at silences", async () => {
    const file = join(folder, "long.wav");
    const words = await writeLongSound(file, 20);
    const lines = (await printed(runPython(["transcribe.py", file], env))).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(12);
    const begins = lines.map((line) => /^\[(\d+):(\d\d\.\d)\] /.exec(line) ?? []);
    const seconds = begins.map(([, minutes, rest]) => 60 * Number(minutes) + Number(rest));
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
    expect(seconds.at(-1)).toBeGreaterThan(60);
    const heard = lines.flatMap((line) => line.replace(/^\[\S+\] ?/, "").split(" "));
    // The model misrecognizes one in thirteen words of this voice, and leaves out a few words.
    expect(heard.length / words.length).toBeGreaterThan(0.9);
    expect(heard.length).toBeLessThanOrEqual(words.length);
    expect(heard.join(" ").match(/red green blue seven/g)).toHaveLength(5);
  });

  it("transcribe.py reports errors of a file", async () => {
    const text = join(folder, "text.wav");
    await writeFile(text, "not a sound");
    for (const file of [text, join(folder, "nothing.wav")]) {
      const { code, stdout, stderr } = await runPython(["transcribe.py", file], env);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(`${file}: `);
    }
  });
});

/** Joins the fixtures with a second of silence after each. @returns the spoken words. */
async function writeLongSound(file: string, count: number): Promise<string[]> {
  const names = ["four-five-six", "hello-left-ten", "red-green-blue-seven", "yes-no-stop"];
  const sounds = await Promise.all(names.map((name) => readFile(join(SPOKEN, `${name}.wav`))));
  const order = Array.from({ length: count }, (_, at) => at % names.length);
  const samples = order.flatMap((at) => [sounds[at]!.subarray(WAV_HEAD), Buffer.alloc(2 * SAMPLE_RATE)]);
  const head = Buffer.from(sounds[0]!.subarray(0, WAV_HEAD));
  const bytes = samples.reduce((sum, { length }) => sum + length, 0);
  head.writeUInt32LE(WAV_HEAD - 8 + bytes, 4);
  head.writeUInt32LE(bytes, 40);
  await writeFile(file, Buffer.concat([head, ...samples]));
  return order.flatMap((at) => names[at]!.split("-"));
}
