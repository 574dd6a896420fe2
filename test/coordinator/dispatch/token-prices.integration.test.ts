import { readFileSync, writeFileSync } from "node:fs";
import { join as joinPath } from "node:path";
import { describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { call, until } from "../../support/http/http.ts";
import { beginFrames, failedFrame, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { makeCatalog } from "../../support/small-catalog.ts";
import { buildWav } from "../../shared/audio/wav-builder.ts";
import {
  api,
  client,
  coordinator,
  CREDITS,
  earned,
  ended,
  join,
  openForEachTest,
  paid,
  prompt,
  submit,
} from "./paid-islands.ts";

/** Credits of a token at a price of 0.01 credits for 500 prompt tokens and 500 completion tokens. */
const READ = 0.000_004;
const WRITTEN = 0.000_016;

openForEachTest();

const words = (count: number): string[] => Array.from({ length: count }, (_, index) => `word${index} `);
const readPrompt = ({ jobId, attempt }: Assign, total: number): FromIsland => ({
  type: "started",
  jobId,
  attempt,
  prompt: { done: total, total },
});
const rounded = (credits: number): number => Math.round(credits * 1e6) / 1e6;

describe("the charge of a chat", () => {
  it("is that of 20 tokens for 20 tokens, of which the Island's owner earns all without a network fee", async () => {
    await using island = await join();
    const jobId = await submit(prompt("Why is the sea salty?"));
    const assign = await island.next("assign");
    island.send(
      ...beginFrames(assign),
      outputFrame(assign, 1, ...words(20)),
      finishedFrame(assign, 2, { promptTokens: 6, completionTokens: 20 }),
    );
    const { status, usage } = await ended(jobId);
    const cost = rounded(6 * READ + 20 * WRITTEN);
    expect([status, usage.completion_tokens, usage.credits_used]).toEqual(["completed", 20, cost]);
    expect([await paid(), await earned()]).toEqual([cost, cost]);
  });

  it("is the price per job for a job of the reference size", async () => {
    await using island = await join();
    const jobId = await submit(prompt("x".repeat(500), { max_tokens: 500 }));
    expect(await paid()).toBe(0.01);
    const assign = await island.next("assign");
    island.send(
      ...beginFrames(assign),
      outputFrame(assign, 1, ...words(500)),
      finishedFrame(assign, 2, { promptTokens: 500, completionTokens: 500 }),
    );
    expect((await ended(jobId)).usage).toMatchObject({ credits_used: 0.01 });
    expect(await paid()).toBe(0.01);
  });

  it("is the same for the tokens read and delivered if the job fails or is cancelled", async () => {
    for (const ending of ["fail", "cancel"] as const) {
      const before = await paid();
      await using island = await join();
      const jobId = await submit(prompt("Why is the sea salty?", { response_format: { type: "json_object" } }));
      const assign = await island.next("assign");
      island.send(...beginFrames(assign), readPrompt(assign, 6), outputFrame(assign, 1, ...words(7)));
      await island.next("ack");
      if (ending === "cancel") await api("DELETE", `/jobs/${jobId}`);
      else island.send(failedFrame(assign, 2, "runtime_crashed"));
      expect((await ended(jobId)).usage.credits_used).toBe(rounded(6 * READ + 7 * WRITTEN));
      expect(rounded((await paid()) - before)).toBe(rounded(6 * READ + 7 * WRITTEN));
    }
  });

  it("has the rates of its submission if the price changes while it runs", async () => {
    await using island = await join();
    const jobId = await submit(prompt());
    const assign = await island.next("assign");
    await coordinator.withStore((store) => store.catalog.setPrice("tiny-chat", 500_000, 1));
    const pricing = () => api("GET", "/cargos/tiny-chat");
    await until(pricing, ({ body }) => body.data.price_per_job === 0.5, "the price is 0.5");
    expect((await pricing()).body.data.pricing).toMatchObject({ prompt: 200, completion: 800 });
    island.send(
      ...beginFrames(assign),
      outputFrame(assign, 1, ...words(20)),
      finishedFrame(assign, 2, { promptTokens: 2, completionTokens: 20 }),
    );
    expect((await ended(jobId)).usage.credits_used).toBe(rounded(2 * READ + 20 * WRITTEN));
  });

  it.each([
    ["spaces and line breaks", [" ", "\n\n"]],
    ["invisible characters of Unicode", ["\u00A0", "\u200B\u2060"]],
  ])("is zero for a completion of %s, which the client still gets", async (_, texts) => {
    await using island = await join();
    const jobId = await submit(prompt());
    const assign = await island.next("assign");
    island.send(
      ...beginFrames(assign),
      outputFrame(assign, 1, ...texts),
      finishedFrame(assign, 2, { promptTokens: 2, completionTokens: 2 }),
    );
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: texts.join("") });
    expect([await paid(), await earned()]).toEqual([0, 0]);
  });
});

describe("the hold of a chat", () => {
  it("covers the bytes of the prompt and `max_tokens`, which is 1,024 by default", async () => {
    await submit(prompt("x".repeat(100)));
    expect(await paid()).toBe(rounded(100 * READ + 1_024 * WRITTEN));
    await submit(prompt("x".repeat(100), { max_tokens: 3 }));
    expect(await paid()).toBe(rounded(200 * READ + 1_027 * WRITTEN));
  });

  it("counts at most the context of the Cargo for the prompt and for the completion", async () => {
    const { context_tokens: context } = (await api("GET", "/cargos/tiny-chat")).body.data;
    await submit(prompt("x".repeat(context + 1), { max_tokens: 2_000_000_000 }));
    expect(await paid()).toBe(rounded(context * READ + context * WRITTEN));
  });

  it("is named by the refusal of a job that the account cannot pay, which says how to hold less", async () => {
    const poor = await coordinator.createAccount("poor@example.com", 0.01);
    const ask = (input: object) => call(coordinator.url, poor.key, "POST", "/jobs", { workload: "tiny-chat", input });
    const refused = await ask(prompt("Hi"));
    expect([refused.status, refused.body.error]).toMatchObject([
      402,
      {
        code: "insufficient_credits",
        message: expect.stringMatching(/^Not enough credits: 0.016392 needed, 0.01 available\. .*Lower max_tokens/),
        required_credits: 0.016_392,
      },
    ]);
    expect((await ask(prompt("Hi", { max_tokens: 500 }))).status).toBe(201);
  });
});

describe("jobs of an earlier version", () => {
  it("cost their price when they complete, in a database without rates", async () => {
    const ids = [
      await submit(prompt("x".repeat(500), { max_tokens: 500 })),
      await submit(prompt("x".repeat(500), { max_tokens: 500 })),
    ];
    await coordinator.stop();
    for (const column of ["rates", "terms"]) coordinator.runSql(`ALTER TABLE jobs DROP COLUMN ${column}`);
    coordinator.runSql("ALTER TABLE api_keys DROP COLUMN trust");
    for (const table of ["audits", "standings"]) coordinator.runSql(`DROP TABLE ${table}`);
    coordinator.runSql("DELETE FROM migrations WHERE version >= 3");
    await coordinator.start();
    await using island = await join();
    const [first, second] = [await island.next("assign"), await island.next("assign")];
    island.send(
      ...beginFrames(first),
      outputFrame(first, 1, "yes"),
      finishedFrame(first, 2, { promptTokens: 500, completionTokens: 1 }),
      ...beginFrames(second),
      failedFrame(second, 1, "invalid_input"),
    );
    expect((await ended(first.jobId)).usage.credits_used).toBe(0.01);
    expect(ids).toContain(first.jobId);
    await api("DELETE", `/jobs/${second.jobId}`);
    await ended(second.jobId);
    expect(await paid()).toBe(0.01);
  });
});

describe("Cargos with prices for pixels and seconds", () => {
  /** Starts the coordinator with prices of an operator's catalog. */
  async function reprice(slug: string, pricing: object): Promise<void> {
    const catalogDirectory = makeCatalog(["tiny-chat", "tiny-picture", "tiny-speech"]);
    const path = joinPath(catalogDirectory, "cargos", `${slug}.json`);
    const { price_per_job: _, ...file } = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...file, pricing }));
    coordinator.withFlags({ catalogDirectory });
    await coordinator.stop();
    await coordinator.start();
  }
  /** Returns what a job holds. */
  async function heldFor(workload: string, input: object): Promise<number> {
    const before = await paid();
    await submit(input, workload);
    return rounded((await paid()) - before);
  }

  it("hold the price of the pixels and steps of an image, with the defaults of its schema", async () => {
    await reprice("tiny-picture", { megapixel_step: 1, reference: { width: 64, height: 64, steps: 4 } });
    const image = (await api("GET", "/cargos/tiny-picture")).body.data;
    expect([image.price_per_job, image.pricing]).toMatchObject([
      0.016_384,
      { megapixel_step: 1, prompt: null, reference: { megapixel_steps: 0.016_384 } },
    ]);
    expect(await heldFor("tiny-picture", { prompt: "a cat" })).toBe(0.016_384);
    expect(await heldFor("tiny-picture", { prompt: "a cat", steps: 8 })).toBe(0.032_768);
  });

  it("hold the price of the seconds of a WAV file, inline or uploaded, and of the reference size for others", async () => {
    await reprice("tiny-speech", { audio_second: 0.001, reference: { seconds: 30 } });
    const wav = (seconds: number) => buildWav({ bits: 16, rateHz: 8_000, data: Buffer.alloc(seconds * 16_000) });
    expect(await heldFor("tiny-speech", { audio: wav(2).toString("base64") })).toBe(0.002);
    const upload = async (content: Uint8Array<ArrayBuffer>): Promise<string> => {
      const form = new FormData();
      form.set("purpose", "user_data");
      form.set("file", new Blob([content]), "speech.wav");
      const headers = { authorization: `Bearer ${client.key}` };
      const uploaded = await fetch(`${coordinator.url}/api/v1/files`, { method: "POST", headers, body: form });
      return ((await uploaded.json()) as { id: string }).id;
    };
    const recording = await upload(new Uint8Array(wav(5)));
    expect(await heldFor("tiny-speech", { audio: { file_id: recording } })).toBe(0.005);
    const other = await upload(new TextEncoder().encode("not a WAV file ".repeat(10)));
    expect(await heldFor("tiny-speech", { audio: { file_id: other } })).toBe(0.03);
    expect(await paid()).toBeLessThan(CREDITS);
  });
});
