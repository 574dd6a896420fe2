import { NotFoundError, OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readWav, writeWav } from "../../../../shared/audio/wav-file.ts";
import type { Assign } from "../../../../shared/protocol/from-coordinator.ts";
import { beginFrames, failedFrame, finishedFrame } from "../../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { call } from "../../../support/http/http.ts";
import { makeCatalog } from "../../../support/small-catalog.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

const MODEL = "supertonic-tts-2";
const RATE_HZ = 44_100;
const catalogDirectory = makeCatalog(["tiny-chat", MODEL]);
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
  });
});
afterEach(async () => {
  await island[Symbol.asyncDispose]();
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const speak = (body: object) => call(coordinator.url, account.key, "POST", "/audio/speech", { model: MODEL, ...body });

const wavOf = (seconds: number, rateHz = RATE_HZ): string =>
  writeWav({
    samples: Float32Array.from(
      { length: seconds * rateHz },
      (_, i) => 0.5 * Math.sin((i * 2 * Math.PI * 440) / rateHz),
    ),
    sampleRateHz: rateHz,
  }).toString("base64");

/** Runs the next job with a recording of a tenth of a second. */
async function answer(data = wavOf(0.1)): Promise<Assign["input"]> {
  const assign = await island.next("assign");
  const output = { format: "wav", sampling_rate_hz: RATE_HZ, data };
  island.send(...beginFrames(assign), finishedFrame(assign, 1, { output }));
  return assign.input;
}

describe("POST /audio/speech", () => {
  it("returns an MP3 file to the openai client", async () => {
    const asked = client.audio.speech.create({ model: MODEL, voice: "F2", input: "Hello island", speed: 1.5 });
    expect(await answer()).toEqual({ text: "Hello island", voice: "F2", speed: 1.5 });
    const response = await asked;
    expect(response.headers.get("content-type")).toBe("audio/mpeg");
    const bytes = Buffer.from(await response.arrayBuffer());
    // Sync word of an MPEG frame, layer III.
    expect(bytes.readUInt16BE(0) & 0xffe6).toBe(0xffe2);
    expect(bytes.length).toBeGreaterThan(500);
    expect(bytes.length).toBeLessThan(4_410);
  });

  it("returns a WAV file at the Cargo's rate, and samples at 24 kHz", async () => {
    const asked = client.audio.speech.create({ model: MODEL, voice: "default", input: "A", response_format: "wav" });
    expect(await answer()).toEqual({ text: "A" });
    const file = Buffer.from(await (await asked).arrayBuffer());
    expect(file.readUInt32LE(40)).toBe(file.length - 44);
    const { sampleRateHz, samples } = readWav(file);
    expect([sampleRateHz, samples.length]).toEqual([RATE_HZ, RATE_HZ / 10]);
    const askedRaw = client.audio.speech.create({ model: MODEL, voice: "F1", input: "A", response_format: "pcm" });
    await answer();
    expect((await (await askedRaw).arrayBuffer()).byteLength).toBe(4_800);
  });

  it("splits a long text between sentences and joins the recordings", async () => {
    const sentence = `${"Word ".repeat(99)}end. `;
    const asked = client.audio.speech.create({
      model: MODEL,
      voice: "F1",
      input: sentence.repeat(2),
      response_format: "wav",
    });
    expect((await answer()).text).toBe(sentence.trim());
    expect((await answer()).text).toBe(sentence.trim());
    const { samples } = readWav(Buffer.from(await (await asked).arrayBuffer()));
    expect(samples.length).toBe((2 * RATE_HZ) / 10);
  });

  it("streams events with the bytes, and the usage at the end", async () => {
    const asked = client.audio.speech.create({
      model: MODEL,
      voice: "F1",
      input: "A",
      response_format: "pcm",
      stream_format: "sse",
    });
    await answer(wavOf(1, 24_000));
    const response = await asked;
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = (await response.text())
      .split("\n\n")
      // Heartbeats are comments, which this filter drops.
      .filter((event) => event.includes("\ndata: "))
      .map((event) => JSON.parse(event.split("\ndata: ")[1] ?? "") as { type: string; audio?: string; usage?: object });
    expect(events.map(({ type }) => type)).toEqual(["speech.audio.delta", "speech.audio.delta", "speech.audio.done"]);
    const bytes = events.map(({ audio = "" }) => Buffer.from(audio, "base64").length);
    expect(bytes.reduce((sum, each) => sum + each)).toBe(48_000);
    expect(events.at(-1)?.usage).toEqual({ input_tokens: 5, output_tokens: 0, total_tokens: 5 });
  });

  it.each([
    [{ input: " " }, "input"],
    [{ input: "a".repeat(4_097) }, "input"],
    [{ voice: "alloy" }, "voice"],
    [{ speed: 3 }, "speed"],
    [{ response_format: "opus" }, "response_format"],
    [{ instructions: "Whisper" }, "instructions"],
  ])("refuses %j and names it", async (fields, param) => {
    const { status, body } = await speak({ input: "Hi", ...fields });
    expect([status, body.error.type, body.error.param]).toEqual([422, "invalid_request_error", param]);
  });

  it.each(["none", "tiny-chat"])("returns 404 for the model %s", async (model) => {
    const asked = client.audio.speech.create({ model, voice: "F1", input: "a" });
    await expect(asked).rejects.toBeInstanceOf(NotFoundError);
  });

  it("fails when the Cargo fails or its output is not a WAV file", async () => {
    const failing = speak({ input: "a" });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), failedFrame(assign, 1, "out_of_memory"));
    expect((await failing).body.error).toMatchObject({ code: "job_failed", job_error: "out_of_memory" });
    const broken = speak({ input: "a" });
    await answer("AAAA");
    const { status, body } = await broken;
    expect([status, body.error.code, body.error.message]).toEqual([500, "job_failed", expect.stringContaining("WAV")]);
  });

  it("cuts the response when a later job fails", async () => {
    const sentence = `${"Word ".repeat(99)}end. `;
    const asked = fetch(`${coordinator.url}/api/v1/audio/speech`, {
      method: "POST",
      headers: { authorization: `Bearer ${account.key}` },
      body: JSON.stringify({ model: MODEL, input: sentence.repeat(2) }),
    });
    const cut = expect(asked.then((response) => response.arrayBuffer())).rejects.toThrow();
    await answer();
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), failedFrame(assign, 1, "out_of_memory"));
    await cut;
  });

  it("cancels the job when its client disconnects", async () => {
    const leaving = new AbortController();
    const asked = client.audio.speech.create({ model: MODEL, voice: "F1", input: "a" }, { signal: leaving.signal });
    const { jobId } = await island.next("assign");
    leaving.abort();
    await expect(asked).rejects.toThrow("aborted");
    expect(await island.next("cancel")).toMatchObject({ jobId });
  });
});
