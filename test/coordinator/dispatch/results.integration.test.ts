import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../shared/json-value.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame, outputFrame, runFrames } from "../../support/network/attempt-frames.ts";
import { collect, jobEvents } from "../../support/http/http.ts";
import { client, coordinator, earned, ended, join, openForEachTest, paid, prompt, submit } from "./paid-islands.ts";

openForEachTest();

describe("the output of a chat", () => {
  it("is the streamed text, and an Island whose result differs is neither continued nor paid", async () => {
    await using liar = await join();
    const jobId = await submit(prompt());
    const events = collect(jobEvents(coordinator.url, client.key, jobId));
    const lie = await liar.next("assign");
    await using _honest = await join();
    liar.send(...beginFrames(lie), outputFrame(lie, 1, "one "));
    liar.send(finishedFrame(lie, 2, { output: "something else", completionTokens: 1 }));
    expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "invalid_output", retryable: true } });
    expect((await events).at(-1)).toMatchObject({ event: "error", data: { code: "invalid_output" } });
    expect([await paid(), await earned()]).toEqual([0, 0]);
  });

  it("is requested from another Island if the first streamed nothing and gives a different result", async () => {
    await using liar = await join();
    const jobId = await submit(prompt());
    const lie = await liar.next("assign");
    await using honest = await join();
    liar.send(...beginFrames(lie), finishedFrame(lie, 1, { output: "something else" }));
    honest.send(...runFrames(await honest.next("assign"), "hello"));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "hello", attempts: 2 });
  });

  it("rejects images", async () => {
    await using liar = await join();
    const jobId = await submit(prompt());
    const { attempt, ...lie } = await liar.next("assign");
    await using honest = await join();
    const items = [{ type: "image" as const, data: "aaaa", format: "png" }];
    liar.send(...beginFrames({ attempt, ...lie }), { type: "output", jobId, attempt, seq: 1, items });
    honest.send(...runFrames(await honest.next("assign"), "hello"));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "hello", attempts: 2 });
  });

  it("is not cut by an Island that should continue it and reports that nothing is left", async () => {
    const lost = await join();
    const jobId = await submit(prompt());
    const first = await lost.next("assign");
    lost.send(...beginFrames(first), outputFrame(first, 1, "one "));
    await lost.next("ack");
    await using liar = await join();
    lost.cut();
    const lie = await liar.next("assign");
    await using honest = await join();
    liar.send(...beginFrames(lie), finishedFrame(lie, 1));
    const assign = await honest.next("assign");
    expect(assign).toMatchObject({ attempt: 3, resume: { text: "one " } });
    honest.send(...runFrames(assign, "two"));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "one two" });
  });
});

describe("an answer in JSON", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const json_schema = { name: "n", schema, strict: true };

  it.each([
    ["is not JSON", { type: "json_object" }, '{"n": '],
    ["is not an object", { type: "json_object" }, "5"],
    ["violates its schema", { type: "json_schema", json_schema }, '{"n": "five"}'],
  ])("that %s fails the job, free of charge", async (_, response_format, text) => {
    await using island = await join();
    const jobId = await submit(prompt("Hi", { response_format }));
    island.send(...runFrames(await island.next("assign"), text));
    expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "invalid_output" } });
    expect([await paid(), await earned()]).toEqual([0, 0]);
  });

  it.each([
    ["matches the request", {}, '{"n": 5}'],
    ["was ended by a stop sequence", { stop: "}" }, '{"n": 5'],
  ])("that %s is the output", async (_, more, text) => {
    await using island = await join();
    const response_format = { type: "json_schema", json_schema };
    const jobId = await submit(prompt("Hi", { response_format, ...more }));
    island.send(...runFrames(await island.next("assign"), text));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: text });
  });
});

describe("a value that the Cargo's output schema excludes", () => {
  const runtimes = [{ type: "wasm" as const, version: "test" }];
  const finish = (assign: Assign, output: JsonValue): FromIsland[] => [
    ...beginFrames(assign),
    finishedFrame(assign, 1, { output }),
  ];

  it("is requested from another Island", async () => {
    await using liar = await join({ runtimes });
    const jobId = await submit({ data: "x" }, "base64");
    const lie = await liar.next("assign");
    await using honest = await join({ runtimes });
    liar.send(...finish(lie, { data: 5 }));
    honest.send(...finish(await honest.next("assign"), { data: "eA==" }));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: { data: "eA==" }, attempts: 2 });
  });

  it("fails the job free of charge if it occurs twice", async () => {
    await using one = await join({ runtimes });
    const jobId = await submit({ data: "x" }, "base64");
    const first = await one.next("assign");
    await using other = await join({ runtimes });
    one.send(...finish(first, 42));
    const second = await other.next("assign");
    other.send(...beginFrames(second), outputFrame(second, 1, "text"), finishedFrame(second, 2));
    expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "invalid_output" } });
    expect([await paid(), await earned()]).toEqual([0, 0]);
  });

  it("fails the job if it is missing twice", async () => {
    await using one = await join({ runtimes });
    const jobId = await submit({ data: "x" }, "base64");
    const first = await one.next("assign");
    await using other = await join({ runtimes });
    one.send(...runFrames(first));
    other.send(...runFrames(await other.next("assign")));
    expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "invalid_output" } });
  });
});
