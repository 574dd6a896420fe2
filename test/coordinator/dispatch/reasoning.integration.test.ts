import { afterEach, beforeEach, expect, it } from "vitest";
import type { OutputItem } from "../../../shared/output.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, collect, jobEvents, until } from "../../support/http/http.ts";
import { makeCatalog } from "../../support/small-catalog.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let client: { key: string };
let owner: { islandToken: string };
const catalogDirectory = makeCatalog(["tiny-chat"], { reasoning: true, tools: "template" });
beforeEach(async () => {
  coordinator = await TestCoordinator.open({ catalogDirectory, islandGraceS: 0.3 });
  client = await coordinator.createAccount("client@example.com", 100);
  owner = await coordinator.createAccount("owner@example.com", 0);
});
afterEach(() => coordinator[Symbol.asyncDispose]());

const api = (method: string, path: string, body?: unknown) => call(coordinator.url, client.key, method, path, body);
const join = (features = ["llmcpp.reasoning", "llmcpp.template"]) =>
  FakeIsland.join(coordinator.url, owner.islandToken, { features, hostId: crypto.randomUUID() });
const submit = async (input: object = {}): Promise<string> =>
  (await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi", ...input } })).body.data.id;
const ended = (jobId: string) =>
  until(
    async () => (await api("GET", `/jobs/${jobId}`)).body.data,
    ({ completed_at }) => completed_at !== null,
    "the job ended",
  );

const thought: OutputItem = { type: "reasoning", content: "Hm, hm.", count: 3 };
const text: OutputItem = { type: "token", content: "Low.", count: 2 };
function frames(assign: Assign, items: OutputItem[], finishReason: "stop" | "length" = "stop"): FromIsland[] {
  const { jobId, attempt } = assign;
  const finished = { ...finishedFrame(assign, 2, { completionTokens: 5 }), finishReason } as FromIsland;
  return [...beginFrames(assign), { type: "output", jobId, attempt, seq: 1, items }, finished];
}

it("reasoning is separate from the answer in chats, their chunks and the events of jobs", async () => {
  await using island = await join();
  const models = await api("GET", "/models/tiny-chat");
  expect(models.body).toMatchObject({ reasoning: true, tool_calls: "template" });
  const ask = (body: object) =>
    api("POST", "/chat/completions", { messages: [{ role: "user", content: "Hi" }], ...body });
  const whole = ask({ reasoning_effort: "low" });
  const assign = await island.next("assign");
  expect(assign.cargo.tools).toBe("template");
  expect([assign.cargo.reasoning, assign.input["reasoning_effort"]]).toEqual([true, "low"]);
  island.send(...frames(assign, [thought, text]));
  expect((await whole).body).toMatchObject({
    choices: [{ message: { role: "assistant", content: "Low.", reasoning_content: "Hm, hm." } }],
    usage: { completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 3 } },
  });
  const streamed = fetch(`${coordinator.url}/api/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  island.send(...frames(await island.next("assign"), [thought, text]));
  const lines = (await (await streamed).text()).split("\n\n").filter((line) => line.startsWith("data: {"));
  const chunks = lines.map((line) => JSON.parse(line.slice(6)));
  expect(chunks.flatMap(({ choices }) => choices.map((choice: { delta: object }) => choice.delta))).toEqual([
    { role: "assistant", content: "" },
    { reasoning_content: "Hm, hm." },
    { content: "Low." },
    {},
  ]);
  expect(chunks.at(-1).usage.completion_tokens_details).toEqual({ reasoning_tokens: 3 });
  const jobId = await submit();
  const events = collect(jobEvents(coordinator.url, client.key, jobId));
  island.send(...frames(await island.next("assign"), [thought, text]));
  expect(await ended(jobId)).toMatchObject({ status: "completed", output: "Low." });
  expect((await events).filter(({ event }) => event === "reasoning").map(({ data }) => data)).toEqual([
    { type: "reasoning", content: "Hm, hm." },
  ]);
});

it("an answer that is cut during reasoning is complete", async () => {
  await using island = await join();
  const cut = await submit();
  island.send(...frames(await island.next("assign"), [thought], "length"));
  expect(await ended(cut)).toMatchObject({ status: "completed", finish_reason: "length" });
});

it("a Cargo with reasoning needs Islands that support it, regardless of the effort", async () => {
  await using _old = await join([]);
  const jobId = await submit();
  expect((await api("GET", `/jobs/${jobId}`)).body.data.waiting.message).toContain(
    "llmcpp.reasoning and llmcpp.template",
  );
});

it("an answer with reasoning is not continued on another Island", async () => {
  await using island = await join();
  const jobId = await submit();
  island.send(...frames(await island.next("assign"), [thought]).slice(0, -1));
  await island.next("ack");
  await using _other = await join();
  island.socket.terminate();
  expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "island_lost" } });
});

it("a message's thinking budget maps to an effort, and its stop sequence is returned as the Island reported it", async () => {
  await using island = await join();
  const ask = (budget: number) =>
    api("POST", "/messages", {
      model: "tiny-chat",
      max_tokens: 4_000,
      messages: [{ role: "user", content: "Hi" }],
      stop_sequences: ["END"],
      thinking: { type: "enabled", budget_tokens: budget },
    });
  for (const [budget, effort, stopSequence] of [
    [1_024, "low", "END"],
    [3_000, "medium", undefined],
  ] as const) {
    const answer = ask(budget);
    const assign = await island.next("assign");
    expect(assign.input["reasoning_effort"]).toBe(effort);
    const sent = frames(assign, [thought, text]);
    const told = sent.map((frame) => (frame.type === "finished" && stopSequence ? { ...frame, stopSequence } : frame));
    island.send(...told);
    expect((await answer).body).toMatchObject({
      content: [
        { type: "thinking", thinking: "Hm, hm." },
        { type: "text", text: "Low." },
      ],
      stop_reason: stopSequence === undefined ? "end_turn" : "stop_sequence",
      stop_sequence: stopSequence ?? null,
    });
  }
});
