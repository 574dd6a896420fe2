import { OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../../http/api.ts";
import { DONE } from "../../http/scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const client = () => new OpenAI({ apiKey: api.key, baseURL: `${api.url}/api/v1`, maxRetries: 0 }).responses;
const inputs = () => api.jobs.submitted.map(({ input }) => input);

const LOOKUP = { type: "function" as const, name: "lookup", description: "Finds one.", parameters: {}, strict: null };
const CRM: OpenAI.Responses.NamespaceTool = {
  type: "namespace",
  name: "crm",
  description: "Customers",
  tools: [LOOKUP, { type: "custom", name: "query" }, { ...LOOKUP, name: "list__all" }],
};
const ask = { model: "tiny", input: "Who?", tools: [{ type: "web_search" as const }, CRM] };

/** Completes the next chat with a call of the function that has this name for the model. */
const call = (name: string) => {
  api.jobs.onSubmit = (feed, job) => {
    feed.push([
      { type: "tool_call", index: 0, id: "call_1", name, arguments: "", count: 5 },
      { type: "tool_call", index: 0, arguments: '{"a":7}', count: 2 },
    ]);
    feed.end({ ...DONE, finishReason: "tool_calls" });
    const kept = api.jobs.jobs.get(job.id);
    if (kept !== undefined) {
      api.jobs.jobs.set(job.id, { ...kept, state: "completed", finishReason: "tool_calls", usage: DONE.usage });
    }
  };
};
const CALLED = {
  id: "fc_new1_0",
  type: "function_call",
  status: "completed",
  call_id: "call_1",
  name: "lookup",
  namespace: "crm",
  arguments: '{"a":7}',
};

describe("namespaces of tools", () => {
  beforeEach(() => call("crm__lookup"));

  it("are offered as functions, and calls name the function and its namespace", async () => {
    const { headers } = await api.call("POST", "/responses", { body: ask });
    expect(headers.get("atoll-ignored")).toBe("tools[0], tools[1].tools[1]");
    expect(inputs()[0]?.["tools"]).toMatchObject([
      { type: "function", function: { name: "crm__lookup", description: "crm: Customers\n\nFinds one." } },
      { type: "function", function: { name: "crm__list__all", description: "Finds one." } },
    ]);
    const stored = await client().retrieve("resp_new1");
    expect(stored.output).toEqual([CALLED]);
    expect(stored.tools.map((tool) => "name" in tool && tool.name)).toEqual(["crm__lookup", "crm__list__all"]);
  });

  it("have the same items in each event of a stream", async () => {
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client().create({ ...ask, stream: true })) events.push(event);
    const items = events.flatMap((event) => ("item" in event ? [event.item] : []));
    expect(items).toEqual([{ ...CALLED, status: "in_progress", arguments: "" }, CALLED]);
    expect(events.find(({ type }) => type === "response.function_call_arguments.done")).toMatchObject({
      name: "lookup",
    });
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { output: [CALLED] } });
  });

  it("have the same name for the model in later requests", async () => {
    const { id, output } = await client().create(ask);
    const told = { type: "function_call_output" as const, call_id: "call_1", output: "Ann" };
    await client().create({ ...ask, input: [...output, told] as OpenAI.Responses.ResponseInput });
    await client().create({ ...ask, input: [told], previous_response_id: id });
    const calls = [{ id: "call_1", type: "function", function: { name: "crm__lookup", arguments: '{"a":7}' } }];
    const turns = [
      { role: "assistant", tool_calls: calls },
      { role: "tool", tool_call_id: "call_1", content: "Ann" },
    ];
    expect(inputs()[1]?.["messages"]).toMatchObject(turns);
    expect(inputs()[2]?.["messages"]).toMatchObject([{ role: "user" }, ...turns]);
  });

  it.each([
    [{ type: "function", name: "lookup" }, "crm__lookup"],
    [{ type: "function", name: "lookup", namespace: "crm" }, "crm__lookup"],
    [{ type: "function", name: "crm__lookup" }, "crm__lookup"],
    [{ type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "lookup" }] }, "crm__lookup"],
  ])("have functions that the tool choice %j selects", async (choice, name) => {
    const { status } = await api.call("POST", "/responses", { body: { ...ask, tool_choice: choice } });
    expect(status).toBe(200);
    expect(JSON.stringify(inputs()[0]?.["tool_choice"])).toContain(`{"name":"${name}"}`);
  });

  it("require a namespace in the choice of a function that several have", async () => {
    const tools = [CRM, { ...CRM, name: "shop" }];
    const choose = (choice: object) =>
      api.call("POST", "/responses", {
        body: { ...ask, tools, tool_choice: { type: "function", name: "lookup", ...choice } },
      });
    expect((await choose({})).body.error).toMatchObject({ param: "tool_choice" });
    expect((await choose({ namespace: "shop" })).status).toBe(200);
    expect(inputs()[0]?.["tool_choice"]).toMatchObject({ function: { name: "shop__lookup" } });
  });

  it("do not split the name of a function without a namespace", async () => {
    const plain = { ...LOOKUP, name: "shop__lookup" };
    call("shop__lookup");
    const { output } = await client().create({ ...ask, tools: [CRM, plain] });
    expect(output[0]).toMatchObject({ name: "shop__lookup" });
    expect(output[0]).not.toHaveProperty("namespace");
  });

  it("shorten the flat names of functions that are too long", async () => {
    const long = { ...LOOKUP, name: "a".repeat(60) };
    const tools = [{ ...CRM, tools: [long, { ...long, name: `${"a".repeat(59)}b` }] }];
    await client().create({ ...ask, tools });
    const offered = inputs()[0]?.["tools"] as { function: { name: string } }[];
    const names = offered.map((tool) => tool.function.name);
    expect(names).toEqual([expect.stringMatching(/^crm__a{50}_[\da-f]{8}$/), expect.stringMatching(/^crm__a{50}_/)]);
    expect(new Set(names).size).toBe(2);
    call(names[0] ?? "");
    const { output } = await client().create({ ...ask, tools });
    expect(output[0]).toMatchObject({ name: long.name, namespace: "crm" });
  });

  it.each([
    [[CRM, { ...LOOKUP, name: "crm__lookup" }], "tools.1.name"],
    [
      [{ type: "web_search" }, { ...CRM, tools: [LOOKUP, { type: "custom", name: "q" }, LOOKUP] }],
      "tools.1.tools.2.name",
    ],
    [
      [
        {
          ...CRM,
          tools: [
            { type: "custom", name: "q" },
            { ...LOOKUP, parameters: { type: "array" } },
          ],
        },
      ],
      "tools.0.tools.1.parameters",
    ],
    [[{ ...CRM, name: "no name" }], "tools.0.name"],
    [[{ ...CRM, tools: [{ ...LOOKUP, name: "no name" }] }], "tools.0.tools.0.name"],
  ])("are refused in %j with the path of the fault", async (tools, param) => {
    const { status, body } = await api.call("POST", "/responses", { body: { ...ask, tools } });
    expect([status, body.error.param]).toEqual([422, param]);
  });
});

describe("items of earlier turns", () => {
  it("are accepted as agents send them back", async () => {
    call("crm__lookup");
    const input = [
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "Hi" }],
        id: "msg_0",
        status: "completed",
      },
      { type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: "rs_1" },
      { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm" }], encrypted_content: null },
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "a" } },
      { type: "function_call", call_id: "a", name: "lookup", namespace: "crm", arguments: "{}", status: "completed" },
      { type: "custom_tool_call", call_id: "b", name: "patch", input: "*** Begin", status: "completed" },
      {
        type: "local_shell_call",
        id: "ls_1",
        call_id: "c",
        status: "completed",
        action: { type: "exec", command: ["ls"] },
      },
      { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "Ann" }] },
      { type: "custom_tool_call_output", call_id: "b", output: "Done" },
      { type: "function_call_output", call_id: "c", output: "README.md" },
      {
        type: "message",
        role: "assistant",
        phase: "final_answer",
        content: [{ type: "output_text", text: "Yes", annotations: [], logprobs: [] }],
      },
    ];
    const { status, headers } = await api.call("POST", "/responses", { body: { ...ask, tools: [], input } });
    expect(status).toBe(200);
    expect(headers.get("atoll-ignored")).toContain("input[1], input[2], input[3]");
    const named = (id: string, name: string, args: object) => {
      return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
    };
    expect(inputs()[0]?.["messages"]).toEqual([
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          named("a", "crm__lookup", {}),
          named("b", "patch", { input: "*** Begin" }),
          named("c", "local_shell", { type: "exec", command: ["ls"] }),
        ],
      },
      { role: "tool", tool_call_id: "a", content: "Ann" },
      { role: "tool", tool_call_id: "b", content: "Done" },
      { role: "tool", tool_call_id: "c", content: "README.md" },
      { role: "assistant", content: "Yes" },
    ]);
  });

  it("may have no parts, as results of tools that return nothing", async () => {
    call("lookup");
    const called = { type: "function_call", call_id: "a", name: "lookup", arguments: "{}" };
    const input = [called, { type: "function_call_output", call_id: "a", output: [] }];
    const { status } = await api.call("POST", "/responses", { body: { model: "tiny", input } });
    expect(status).toBe(200);
    expect(inputs()[0]?.["messages"]).toMatchObject([{}, { role: "tool", content: "" }]);
  });

  it.each([
    [{ type: "compaction", encrypted_content: "a" }, "input.1.type"],
    [{ type: "image_generation_call", id: "ig_1", result: "a" }, "input.1.type"],
    [{ role: "user", content: [{ type: "input_text", text: "a" }, { type: "input_file" }] }, "input.1.content.1.type"],
    [{ type: "function_call_output", call_id: "a", output: [{ type: "input_file" }] }, "input.1.output.0.type"],
    [{ type: "function_call", call_id: "a", name: "b" }, "input.1.arguments"],
  ])("are refused with the path of the fault in %j", async (item, param) => {
    const input = [{ role: "user", content: "Hi" }, item];
    const { status, body } = await api.call("POST", "/responses", { body: { model: "tiny", input } });
    expect([status, body.error.param, body.error.details.length]).toEqual([422, param, 1]);
  });
});
