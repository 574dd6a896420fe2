import { describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { beginFrames, failedFrame, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { call, until } from "../../support/http/http.ts";
import {
  api,
  client,
  coordinator,
  earned,
  ended,
  join,
  openForEachTest,
  owner,
  paid,
  prompt,
  submit,
} from "./paid-islands.ts";

/** Price of the Cargo tiny-chat. */
const PRICE = 0.01;

openForEachTest();

const progress = ({ jobId, attempt }: Assign, seq: number): FromIsland => ({
  type: "output",
  jobId,
  attempt,
  seq,
  items: [{ type: "progress", step: 1, total: 25 }],
});

describe("the usage that an Island reports", () => {
  it("is capped by the delivered output and the possible prompt tokens", async () => {
    await using island = await join();
    const jobId = await submit(prompt("Hi"));
    const assign = await island.next("assign");
    const usage = { promptTokens: 1_000_000_000, completionTokens: 1_000_000_000 };
    island.send(...beginFrames(assign), outputFrame(assign, 1, "four"), finishedFrame(assign, 2, usage));
    // The text has one byte per token. A template may add 576 tokens to one message.
    expect((await ended(jobId)).usage).toMatchObject({ prompt_tokens: 578, completion_tokens: 4 });
  });

  it("is capped by the possible prompt tokens in message_start", async () => {
    await using island = await join();
    const path = new URL("/v1/messages", coordinator.url);
    const messages = [{ role: "user", content: "Hi" }];
    const streamed = fetch(path, {
      method: "POST",
      headers: { "x-api-key": client.key, "content-type": "application/json" },
      body: JSON.stringify({ model: "tiny-chat", max_tokens: 9, stream: true, messages }),
    }).then((response) => response.text());
    const assign = await island.next("assign");
    const { jobId, attempt } = assign;
    const read = { total: 1_000_000_000, done: 1 };
    island.send(...beginFrames(assign), { type: "started", jobId, attempt, prompt: read });
    island.send(outputFrame(assign, 1, "four"), finishedFrame(assign, 2, { completionTokens: 1 }));
    const [, started = ""] = /^data: (.*"message_start".*)$/m.exec(await streamed) ?? [];
    expect(JSON.parse(started).message.usage.input_tokens).toBe(578);
  });

  it("is accepted from an honest Island whose tokens wait for a character or a stop sequence", async () => {
    await using island = await join();
    const jobId = await submit(prompt("Hi", { stop: ["END"] }));
    const assign = await island.next("assign");
    const { jobId: id, attempt } = assign;
    const items = [{ type: "token" as const, content: "🌊", count: 4 }];
    island.send(...beginFrames(assign), { type: "output", jobId: id, attempt, seq: 1, items });
    island.send(finishedFrame(assign, 2, { promptTokens: 11, completionTokens: 7 }));
    expect((await ended(jobId)).usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 });
  });

  it("costs the client nothing if one empty token claims to be a thousand", async () => {
    await using island = await join();
    const jobId = await submit(prompt("Hi", { max_tokens: 1_000 }));
    const assign = await island.next("assign");
    const { attempt } = assign;
    const items = [{ type: "token" as const, content: "", count: 1_000 }];
    island.send(...beginFrames(assign), { type: "output", jobId, attempt, seq: 1, items });
    await island.next("ack");
    await api("DELETE", `/jobs/${jobId}`);
    expect([await paid(), await earned()]).toEqual([0, 0]);
  });
});

describe("the output of a chat", () => {
  it("earns nothing if it is empty, and another Island is asked", async () => {
    await using liar = await join();
    const jobId = await submit(prompt());
    const lie = await liar.next("assign");
    await using honest = await join();
    liar.send(...beginFrames(lie), finishedFrame(lie, 1, { completionTokens: 1_000 }));
    const assign = await honest.next("assign");
    honest.send(
      ...beginFrames(assign),
      outputFrame(assign, 1, "hello"),
      finishedFrame(assign, 2, { completionTokens: 1 }),
    );
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "hello", attempts: 2 });
  });

  it("is refuted by another Island if it is only white space", async () => {
    await using liar = await join();
    const jobId = await submit(prompt());
    const lie = await liar.next("assign");
    await using honest = await join();
    liar.send(...beginFrames(lie), outputFrame(lie, 1, "\u00A0"), finishedFrame(lie, 2, { completionTokens: 1 }));
    const assign = await honest.next("assign");
    honest.send(
      ...beginFrames(assign),
      outputFrame(assign, 1, "hello"),
      finishedFrame(assign, 2, { completionTokens: 1 }),
    );
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "\u00A0hello", attempts: 2 });
  });

  it("is accepted if max_tokens cut it after white space", async () => {
    await using island = await join();
    const jobId = await submit(prompt("Hi", { max_tokens: 1 }));
    const assign = await island.next("assign");
    await using _other = await join();
    const finished = { ...finishedFrame(assign, 2, { completionTokens: 1 }), finishReason: "length" } as const;
    island.send(...beginFrames(assign), outputFrame(assign, 1, "\n"), finished);
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "\n", attempts: 1 });
  });

  it("is accepted free of charge if it is empty twice", async () => {
    await using one = await join();
    const jobId = await submit(prompt());
    const first = await one.next("assign");
    await using other = await join();
    one.send(...beginFrames(first), finishedFrame(first, 1));
    const second = await other.next("assign");
    other.send(...beginFrames(second), finishedFrame(second, 1));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "", attempts: 2 });
    expect([await paid(), await earned()]).toEqual([0, 0]);
  });
});

describe("progress", () => {
  const runtimes = [{ type: "wasm" as const, version: "test" }];

  it("does not count as output, so that another Island takes the job of one that was lost after its first step", async () => {
    const lost = await join({ runtimes });
    const jobId = await submit({ data: "x" }, "base64");
    const assign = await lost.next("assign");
    lost.send(...beginFrames(assign), progress(assign, 1));
    await lost.next("ack");
    await using other = await join({ runtimes });
    lost.cut();
    const next = await other.next("assign");
    expect(next).toMatchObject({ jobId, attempt: 2 });
    expect(next.resume).toBeUndefined();
    other.send(...beginFrames(next), finishedFrame(next, 1, { output: { data: "eA==" } }));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: { data: "eA==" } });
  });

  it("costs nothing if the job is cancelled", async () => {
    await using island = await join({ runtimes });
    const jobId = await submit({ data: "x" }, "base64");
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), progress(assign, 1));
    await island.next("ack");
    await api("DELETE", `/jobs/${jobId}`);
    expect([(await ended(jobId)).status, await paid()]).toEqual(["cancelled", 0]);
  });
});

describe("the charge for a job that did not complete", () => {
  const readPrompt = ({ jobId, attempt }: Assign, done: number, total = 400): FromIsland => ({
    type: "started",
    jobId,
    attempt,
    prompt: { done, total },
  });
  const LONG = prompt("word ".repeat(400), { max_tokens: 100 });

  it("covers the prompt tokens that were read", async () => {
    await using island = await join();
    const jobId = await submit(LONG);
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), readPrompt(assign, 100), readPrompt(assign, 200));
    island.send(progress(assign, 1));
    await island.next("ack");
    await api("DELETE", `/jobs/${jobId}`);
    // A prompt token costs 4 micro-credits.
    expect([await paid(), await earned()]).toEqual([0.000_8, 0.000_8]);
    expect((await ended(jobId)).usage).toMatchObject({ prompt_tokens: 200, completion_tokens: 0 });
  });

  it("covers the delivered output, even if the Island then fails", async () => {
    await using island = await join();
    const jobId = await submit({ ...LONG, response_format: { type: "json_object" } });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), readPrompt(assign, 400));
    island.send(
      outputFrame(assign, 1, ...Array.from({ length: 50 }, String)),
      failedFrame(assign, 2, "runtime_crashed"),
    );
    expect((await ended(jobId)).status).toBe("failed");
    // 400 prompt tokens at 4 micro-credits, and 50 completion tokens at 16.
    expect([await paid(), await earned()]).toEqual([0.002_4, 0.002_4]);
  });

  it("is zero if the Island fails before any output", async () => {
    await using island = await join();
    const jobId = await submit(LONG);
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), readPrompt(assign, 400), failedFrame(assign, 1, "runtime_crashed"));
    expect((await ended(jobId)).status).toBe("failed");
    expect([await paid(), await earned()]).toEqual([0, 0]);
  });

  it("does not exceed the hold, regardless of what the Island reports", async () => {
    await using island = await join();
    const jobId = await submit(LONG);
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), readPrompt(assign, 1_000_000_000, 1_000_000_000), progress(assign, 1));
    await island.next("ack");
    await api("DELETE", `/jobs/${jobId}`);
    expect((await ended(jobId)).usage.prompt_tokens).toBe(2_000 + 576);
    expect(await paid()).toBeLessThan(PRICE);
  });

  it("counts at most one token for each byte of the prompt, regardless of what a template may add", async () => {
    await using island = await join();
    const jobId = await submit(prompt("Hi", { max_tokens: 16 }));
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), readPrompt(assign, 578, 578), progress(assign, 1));
    await island.next("ack");
    await api("DELETE", `/jobs/${jobId}`);
    // 2 prompt tokens at 4 micro-credits.
    expect([await paid(), await earned()]).toEqual([0.000_008, 0.000_008]);
  });
});

describe("a failure that an Island reports as final", () => {
  const WORDS = "Dear client, send 5 credits to me ".repeat(50);
  const final = (assign: Assign): FromIsland[] => [
    ...beginFrames(assign),
    { ...failedFrame(assign, 1, "invalid_input"), message: WORDS } as FromIsland,
  ];

  it("is accepted if another Island confirms it, and the client reads the coordinator's message", async () => {
    await using one = await join();
    const jobId = await submit(prompt());
    const first = await one.next("assign");
    await using other = await join();
    one.send(...final(first));
    other.send(...final(await other.next("assign")));
    const { status, attempts, error } = await ended(jobId);
    expect([status, attempts, error]).toEqual([
      "failed",
      2,
      { code: "invalid_input", message: "The Cargo cannot run this input", retryable: false },
    ]);
  });

  it("is not accepted if another Island can do the job", async () => {
    await using liar = await join();
    const jobId = await submit(prompt());
    const lie = await liar.next("assign");
    await using honest = await join();
    liar.send(...final(lie));
    const assign = await honest.next("assign");
    honest.send(
      ...beginFrames(assign),
      outputFrame(assign, 1, "yes"),
      finishedFrame(assign, 2, { completionTokens: 1 }),
    );
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "yes" });
  });

  it("includes the Island's own message for its owner only", async () => {
    await using island = await join();
    const own = await call(coordinator.url, owner.key, "POST", "/jobs", { workload: "tiny-chat", input: prompt() });
    island.send(...final(await island.next("assign")));
    const { error } = await until(
      async () => (await call(coordinator.url, owner.key, "GET", `/jobs/${own.body.data.id}`)).body.data,
      ({ status }) => status === "failed",
      "failed",
    );
    expect(error.message).toBe(`The Cargo cannot run this input. The Island says: ${WORDS.trim().slice(0, 1_000)}`);
  });
});
