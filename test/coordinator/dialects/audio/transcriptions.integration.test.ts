import { NotFoundError, OpenAI, toFile } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requestParameters } from "../../../../tools/generated/api.ts";
import { parameterRows } from "../../../../tools/generated/parameter-tables.ts";
import { FILES_FEATURE } from "../../../../shared/job-files.ts";
import type { JsonValue } from "../../../../shared/json-value.ts";
import type { Assign } from "../../../../shared/protocol/from-coordinator.ts";
import { beginFrames, finishedFrame } from "../../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { encodeWav } from "../../../support/models/test-audio.ts";
import { makeCatalog } from "../../../support/small-catalog.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

const MODEL = "whisper-base";
const catalogDirectory = makeCatalog(["tiny-chat", MODEL]);
/** A recording of one and a half seconds. */
const SOUND = encodeWav(new Float32Array(24_000));
const CHUNKS = [
  { start_s: 0, end_s: 0.75, text: " Hello" },
  { start_s: 0.75, end_s: null, text: " island" },
];
let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };
let island: FakeIsland;
let client: OpenAI;

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ catalogDirectory, chatWaitS: 20 });
  account = await coordinator.createAccount("client@example.com");
  client = new OpenAI({ apiKey: account.key, baseURL: `${coordinator.url}/api/v1`, maxRetries: 0 });
  island = await FakeIsland.join(coordinator.url, account.islandToken, {
    runtimes: [{ type: "onnx", version: "test" }],
    features: [FILES_FEATURE],
  });
});
afterEach(async () => {
  await island[Symbol.asyncDispose]();
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const sound = (bytes: Uint8Array = SOUND) => toFile(bytes, "sound.wav");

/** Runs the next job with this output. */
async function answer(output: JsonValue): Promise<Assign["input"]> {
  const assign = await island.next("assign");
  island.send(...beginFrames(assign), finishedFrame(assign, 1, { output }));
  return assign.input;
}

async function post(fields: Readonly<Record<string, string>>, path = "transcriptions", file: Uint8Array = SOUND) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", new Blob([Uint8Array.from(file)]), "sound.wav");
  const response = await fetch(`${coordinator.url}/api/v1/audio/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${account.key}` },
    body: form,
  });
  const body = (await response.json()) as { error: { type: string; code: string; param: string; message: string } };
  return { status: response.status, body };
}

describe("POST /audio/transcriptions", () => {
  it("returns the text to the openai client", async () => {
    const asked = client.audio.transcriptions.create({ model: MODEL, file: await sound(), language: "en" });
    const input = await answer({ text: " Hello island" });
    expect(input).toEqual({ audio: SOUND.toString("base64"), language: "en" });
    expect(await asked).toEqual({ text: "Hello island", usage: { type: "duration", seconds: 2 } });
  });

  it("returns segments with their times", async () => {
    const ask = { model: MODEL, file: await sound(), response_format: "verbose_json" as const };
    const asked = client.audio.transcriptions.create({ ...ask, timestamp_granularities: ["segment"] });
    expect(await answer({ text: " Hello island", chunks: CHUNKS })).toMatchObject({ timestamps: true });
    expect(await asked).toEqual({
      task: "transcribe",
      duration: 1.5,
      text: "Hello island",
      segments: [
        { id: 0, start: 0, end: 0.75, text: "Hello" },
        { id: 1, start: 0.75, end: 1.5, text: "island" },
      ],
      usage: { type: "duration", seconds: 2 },
    });
  });

  it("returns subtitles, and plain text", async () => {
    const ask = async (format: "srt" | "vtt" | "text") =>
      client.audio.transcriptions.create({ model: MODEL, file: await sound(), response_format: format });
    const heard = { text: " Hello island", chunks: CHUNKS };
    const srt = ask("srt");
    await answer(heard);
    expect(await srt).toBe("1\n00:00:00,000 --> 00:00:00,750\nHello\n\n2\n00:00:00,750 --> 00:00:01,500\nisland\n\n");
    const vtt = ask("vtt");
    await answer(heard);
    expect(await vtt).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:00\.750\nHello\n\n/);
    const text = ask("text");
    expect(await answer({ text: " Hello island" })).not.toHaveProperty("timestamps");
    expect(await text).toBe("Hello island\n");
  });

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ response_format: "xml" }, "response_format"],
    [{ "timestamp_granularities[]": "segment" }, "timestamp_granularities"],
    [{ "timestamp_granularities[]": "word", response_format: "verbose_json" }, "timestamp_granularities"],
    [{ no_such_parameter: "1" }, "no_such_parameter"],
    ...parameterRows(requestParameters().get("POST /audio/transcriptions")!)
      .filter(({ rule }) => rule === "refused")
      .map(({ name }): [Readonly<Record<string, string>>, string] => [{ [name]: "something" }, name]),
  ])("refuses %j and names it", async (fields, param) => {
    const { status, body } = await post({ model: MODEL, ...fields });
    expect([status, body.error.type, body.error.param]).toEqual([422, "invalid_request_error", param]);
  });

  it("refuses a file that is not WAV, and one that is too large", async () => {
    const mp3 = await post({ model: MODEL }, "transcriptions", Buffer.from("ID3 and so on"));
    expect([mp3.status, mp3.body.error.param]).toEqual([422, "file"]);
    const noise = await post({ model: MODEL }, "transcriptions", Buffer.alloc(300_000, 1));
    expect([noise.status, noise.body.error.param]).toEqual([422, "file"]);
    const long = await post({ model: MODEL }, "transcriptions", encodeWav(new Float32Array(13_200_000)));
    expect([long.status, long.body.error.message]).toEqual([413, expect.stringContaining("about 13 minutes")]);
    // The coordinator leaves no file.
    expect((await client.files.list()).data).toEqual([]);
  });

  it("passes a recording of minutes to the Island as a file, and removes it after the response", async () => {
    const minutes = encodeWav(new Float32Array(16_000 * 200));
    const asked = client.audio.transcriptions.create({
      model: MODEL,
      file: await sound(minutes),
      response_format: "verbose_json",
    });
    const assign = await island.next("assign");
    const [file] = assign.files ?? [];
    expect(assign.input).toEqual({ audio: { file_id: expect.stringMatching(/^file_/) }, timestamps: true });
    expect(file).toMatchObject({ at: ["audio"], form: "base64", bytes: minutes.length });
    const headers = { authorization: `Bearer ${account.islandToken}` };
    const content = await fetch(new URL(file?.address ?? "", coordinator.url), { headers });
    expect(Buffer.from(await content.arrayBuffer()).equals(minutes)).toBe(true);
    expect((await client.files.list()).data).toMatchObject([{ filename: "sound.wav", bytes: minutes.length }]);
    island.send(...beginFrames(assign), finishedFrame(assign, 1, { output: { text: " Hello", chunks: CHUNKS } }));
    expect(await asked).toMatchObject({ text: "Hello", duration: 200, segments: [{ start: 0 }, { end: 200 }] });
    await expect.poll(async () => (await client.files.list()).data).toEqual([]);
  });

  it("returns 404 for a model that does not transcribe", async () => {
    const asked = client.audio.transcriptions.create({ model: "tiny-chat", file: await sound() });
    await expect(asked).rejects.toBeInstanceOf(NotFoundError);
  });

  it("fails when the Cargo's output is not a transcription", async () => {
    const asked = post({ model: MODEL });
    await answer({ heard: "Hello" });
    const { status, body } = await asked;
    expect([status, body.error.code]).toEqual([500, "job_failed"]);
  });
});

describe("POST /audio/translations", () => {
  it("requests English from the Cargo", async () => {
    const asked = client.audio.translations.create({ model: MODEL, file: await sound() });
    expect(await answer({ text: " Hello" })).toMatchObject({ task: "translate" });
    expect(await asked).toMatchObject({ text: "Hello" });
  });

  it.each(["language", "prompt"])("refuses %s", async (name) => {
    const { status, body } = await post({ model: MODEL, [name]: "de" }, "translations");
    expect([status, body.error.param]).toEqual([422, name]);
  });
});
