import { describe, expect, it } from "vitest";
import type { OutputItem } from "../../../shared/output.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { collect, jobEvents } from "../../support/http/http.ts";
import { api, client, coordinator, earned, ended, join, openForEachTest, paid, submit } from "./paid-islands.ts";

openForEachTest();

const features = ["chat.tools"];
const parameters = { type: "object", properties: { place: { enum: ["reef", "bay"] } } };
const tools = [
  { type: "function", function: { name: "weather", parameters } },
  { type: "function", function: { name: "tide" } },
];
const ask = (more: object = {}) => submit({ prompt: "Hi", tools, ...more });

const begun = (index: number, name: string): OutputItem => {
  return { type: "tool_call", index, id: `call_${index}`, name, arguments: "", count: 4 };
};
const rest = (index: number, args: string): OutputItem => ({ type: "tool_call", index, arguments: args, count: 2 });

function frames(
  assign: Assign,
  items: OutputItem[],
  finishReason: "stop" | "length" | "tool_calls" = "tool_calls",
): FromIsland[] {
  const { jobId, attempt } = assign;
  const finished = { ...finishedFrame(assign, 2, { completionTokens: 30 }), finishReason } as FromIsland;
  return [...beginFrames(assign), { type: "output", jobId, attempt, seq: 1, items }, finished];
}

describe("tool calls", () => {
  it("are in the job's output with its text, and in the events of its stream", async () => {
    await using island = await join({ features });
    const jobId = await ask();
    const events = collect(jobEvents(coordinator.url, client.key, jobId));
    const assign = await island.next("assign");
    const { jobId: _, ...input } = assign.input;
    expect(input).toMatchObject({ tools });
    const text: OutputItem = { type: "token", content: "Let me see.", count: 3 };
    const calls = [begun(0, "weather"), rest(0, '{"place":'), rest(0, '"bay"}'), begun(1, "tide"), rest(1, "{}")];
    island.send(...frames(assign, [text, ...calls]));
    const job = await ended(jobId);
    const output = {
      role: "assistant",
      content: "Let me see.",
      tool_calls: [
        { id: "call_0", type: "function", function: { name: "weather", arguments: '{"place":"bay"}' } },
        { id: "call_1", type: "function", function: { name: "tide", arguments: "{}" } },
      ],
    };
    expect(job).toMatchObject({ status: "completed", output, finish_reason: "tool_calls" });
    const told = (await events).filter(({ event }) => event === "tool_call").map(({ data }) => data);
    expect(told).toEqual([
      { type: "tool_call", index: 0, id: "call_0", name: "weather", arguments: "" },
      { type: "tool_call", index: 0, arguments: '{"place":' },
      { type: "tool_call", index: 0, arguments: '"bay"}' },
      { type: "tool_call", index: 1, id: "call_1", name: "tide", arguments: "" },
      { type: "tool_call", index: 1, arguments: "{}" },
    ]);
    expect((await events).at(-1)).toMatchObject({ event: "done", data: { finish_reason: "tool_calls", output } });
    const sofar = (await api("GET", `/jobs/${jobId}/output`)).body.data;
    expect(sofar).toMatchObject({ output, tokens: 17 });
    // Tokens of the marks around the calls are accepted up to the number of their bytes.
    expect(job.usage.completion_tokens).toBe(30);
  });

  it("may be cut at the token limit", async () => {
    await using island = await join({ features });
    const jobId = await ask({ tool_choice: "required" });
    island.send(...frames(await island.next("assign"), [begun(0, "weather"), rest(0, '{"pla')], "length"));
    expect(await ended(jobId)).toMatchObject({ status: "completed", finish_reason: "length" });
  });

  it.each<[string, object, OutputItem[], "stop" | "length" | "tool_calls"]>([
    ["of a tool that was not offered", {}, [begun(0, "other"), rest(0, "{}")], "tool_calls"],
    [
      "of a tool that was not chosen",
      { tool_choice: { type: "function", function: { name: "tide" } } },
      [begun(0, "weather"), rest(0, '{"place":"bay"}')],
      "tool_calls",
    ],
    ["with arguments that violate the schema", {}, [begun(0, "weather"), rest(0, '{"place":"sea"}')], "tool_calls"],
    ["with arguments that are not JSON", {}, [begun(0, "tide"), rest(0, "{")], "tool_calls"],
    [
      "in parallel although that is disabled",
      { parallel_tool_calls: false },
      [begun(0, "tide"), rest(0, "{}"), begun(1, "tide"), rest(1, "{}")],
      "tool_calls",
    ],
    ["without their finish reason", {}, [begun(0, "tide"), rest(0, "{}")], "stop"],
    ["without a beginning", {}, [rest(0, "{}")], "tool_calls"],
    [
      "that are text although a call is required",
      { tool_choice: "required" },
      [{ type: "token", content: "x", count: 1 }],
      "stop",
    ],
  ])("%s are not paid, and the job fails", async (_what, choice, items, finishReason) => {
    await using island = await join({ features });
    const jobId = await ask(choice);
    island.send(...frames(await island.next("assign"), items, finishReason));
    expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "invalid_output" } });
    expect([await paid(), await earned()]).toEqual([0, 0]);
  });

  it("count as a failure of the Island if none were allowed, and the job goes to another Island", async () => {
    await using liar = await join({ features });
    const jobId = await ask({ tool_choice: "none" });
    const lie = await liar.next("assign");
    await using honest = await join();
    liar.send(...frames(lie, [begun(0, "tide"), rest(0, "{}")]).slice(0, -1));
    const assign = await honest.next("assign");
    honest.send(
      ...beginFrames(assign),
      outputFrame(assign, 1, "hello"),
      finishedFrame(assign, 2, { completionTokens: 1 }),
    );
    expect(await ended(jobId)).toMatchObject({ status: "completed", output: "hello", attempts: 2 });
  });

  it("are not continued on another Island once they were delivered", async () => {
    await using island = await join({ features });
    const jobId = await ask();
    const assign = await island.next("assign");
    island.send(...frames(assign, [begun(0, "tide")]).slice(0, -1));
    await island.next("ack");
    await using _other = await join({ features });
    island.socket.terminate();
    expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "island_lost" } });
  });
});
