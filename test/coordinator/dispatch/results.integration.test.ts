import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../shared/json-value.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland, Hello } from "../../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame, outputFrame, runFrames } from "../../support/attempt-frames.ts";
import { FakeIsland } from "../../support/fake-island.ts";
import { call, collect, jobEvents, until } from "../../support/http.ts";
import { TestCoordinator } from "../../support/test-coordinator.ts";

const CREDITS = 100;

let coordinator: TestCoordinator;
let client: { id: string; key: string };
/** An Island's owner, who is not the client. */
let owner: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ islandGraceS: 0.3, networkFee: 0 });
  client = await coordinator.createAccount("client@example.com", CREDITS);
  owner = await coordinator.createAccount("owner@example.com", CREDITS);
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  const report = await coordinator.withStore((store) => store.ledger.verify());
  expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
  await coordinator[Symbol.asyncDispose]();
});

const join = (more: Partial<Hello> = {}): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, owner.islandToken, { hostId: randomUUID(), ...more });
const api = (method: string, path: string, body?: unknown) => call(coordinator.url, client.key, method, path, body);
async function submit(input: object = {}, workload = "tiny-chat"): Promise<string> {
  const { status, body } = await api("POST", "/jobs", { workload, input });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.data.id as string;
}
const ended = (jobId: string) =>
  until(
    async () => (await api("GET", `/jobs/${jobId}`)).body.data,
    ({ completed_at }) => completed_at !== null,
    "the job ended",
  );
const paid = async (): Promise<number> =>
  Math.round((CREDITS - ((await api("GET", "/account")).body.data.credits as number)) * 1e6) / 1e6;
const earned = async (): Promise<number> => {
  const { body } = await call(coordinator.url, owner.key, "GET", "/account");
  return Math.round(((body.data.credits as number) - CREDITS) * 1e6) / 1e6;
};
const prompt = (text = "Hi", more: object = {}) => ({ prompt: text, ...more });

describe("A chat's output", () => {
  it("is what was streamed: an Island that gives another one is not continued, and is not paid", async () => {
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

  it("is asked of another Island when the first gives another one than it streamed, which is nothing", async () => {
    await using liar = await join();
    const jobId = await submit(prompt());
    const lie = await liar.next("assign");
    await using honest = await join();
    liar.send(...beginFrames(lie), finishedFrame(lie, 1, { output: "something else" }));
    honest.send(...runFrames(await honest.next("assign"), "hello"));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "hello", attempts: 2 });
  });

  it("is no picture", async () => {
    await using liar = await join();
    const jobId = await submit(prompt());
    const { attempt, ...lie } = await liar.next("assign");
    await using honest = await join();
    const items = [{ type: "image" as const, data: "aaaa", format: "png" }];
    liar.send(...beginFrames({ attempt, ...lie }), { type: "output", jobId, attempt, seq: 1, items });
    honest.send(...runFrames(await honest.next("assign"), "hello"));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "hello", attempts: 2 });
  });

  it("is not cut by an Island that should continue it and says that nothing is left", async () => {
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

describe("An answer in JSON", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const json_schema = { name: "n", schema, strict: true };

  it.each([
    ["is no JSON", { type: "json_object" }, '{"n": '],
    ["is no object", { type: "json_object" }, "5"],
    ["breaks its schema", { type: "json_schema", json_schema }, '{"n": "five"}'],
  ])("that %s fails the job, free of charge", async (_, response_format, text) => {
    await using island = await join();
    const jobId = await submit(prompt("Hi", { response_format }));
    island.send(...runFrames(await island.next("assign"), text));
    expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "invalid_output" } });
    expect([await paid(), await earned()]).toEqual([0, 0]);
  });

  it.each([
    ["is as asked", {}, '{"n": 5}'],
    ["was ended by a stop sequence", { stop: "}" }, '{"n": 5'],
  ])("that %s is the output", async (_, more, text) => {
    await using island = await join();
    const response_format = { type: "json_schema", json_schema };
    const jobId = await submit(prompt("Hi", { response_format, ...more }));
    island.send(...runFrames(await island.next("assign"), text));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: text });
  });
});

describe("A value that its Cargo's output schema excludes", () => {
  const runtimes = [{ type: "wasm" as const, version: "test" }];
  const finish = (assign: Assign, output: JsonValue): FromIsland[] => [
    ...beginFrames(assign),
    finishedFrame(assign, 1, { output }),
  ];

  it("is asked of another Island", async () => {
    await using liar = await join({ runtimes });
    const jobId = await submit({ data: "x" }, "base64");
    const lie = await liar.next("assign");
    await using honest = await join({ runtimes });
    liar.send(...finish(lie, { data: 5 }));
    honest.send(...finish(await honest.next("assign"), { data: "eA==" }));
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: { data: "eA==" }, attempts: 2 });
  });

  it("twice fails the job, free of charge", async () => {
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

  it("may be nothing at all: twice, it fails the job", async () => {
    await using one = await join({ runtimes });
    const jobId = await submit({ data: "x" }, "base64");
    const first = await one.next("assign");
    await using other = await join({ runtimes });
    one.send(...runFrames(first));
    other.send(...runFrames(await other.next("assign")));
    expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "invalid_output" } });
  });
});
