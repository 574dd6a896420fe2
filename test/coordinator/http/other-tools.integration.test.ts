import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "./api.ts";
import { completeWith } from "./scripted-chats.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
  completeWith(api, "Hello");
});
afterEach(() => api[Symbol.asyncDispose]());

const messages = [{ role: "user", content: "Hi" }];
const NO_OBJECT = { type: "array" };
const chatTool = (name: string, parameters: object) => ({ type: "function", function: { name, parameters } });
const responseTool = (name: string, parameters: object) => ({ type: "function", name, parameters });
const messageTool = (name: string, input_schema: object) => ({ name, input_schema });

interface Endpoint {
  readonly path: string;
  readonly base: object;
  readonly tool: (name: string, schema: object) => object;
  readonly others: readonly object[];
  /** Choices that require one of the other tools, or any tool. */
  readonly choices: readonly (readonly [choice: unknown, path: string])[];
  /** Error path of a fault in the second function's schema. */
  readonly schemaPath: string;
}

const ENDPOINTS: readonly Endpoint[] = [
  {
    path: "/chat/completions",
    base: { messages },
    tool: chatTool,
    others: [{ type: "custom", custom: { name: "patch" } }, { type: "web_search" }],
    choices: [
      ["required", "tool_choice"],
      [{ type: "custom", custom: { name: "patch" } }, "tool_choice"],
      [{ type: "function", function: { name: "patch" } }, "tool_choice"],
      [
        {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: [{ type: "custom", custom: { name: "patch" } }] },
        },
        "tool_choice.allowed_tools.tools.0.type",
      ],
    ],
    schemaPath: "tools.3.function.parameters",
  },
  {
    path: "/messages",
    base: { model: "tiny", max_tokens: 20, messages },
    tool: messageTool,
    others: [
      { type: "web_search_20250305", name: "web_search", max_uses: 3 },
      { type: "bash_20250124", name: "bash" },
    ],
    choices: [
      [{ type: "any" }, "tool_choice"],
      [{ type: "tool", name: "bash" }, "tool_choice"],
    ],
    schemaPath: "tools.3.input_schema",
  },
  {
    path: "/responses",
    base: { model: "tiny", input: "Hi" },
    tool: responseTool,
    others: [
      { type: "web_search", external_web_access: false },
      { type: "custom", name: "patch", format: { type: "text" } },
    ],
    choices: [
      ["required", "tool_choice"],
      [{ type: "web_search" }, "tool_choice"],
      [{ type: "custom", name: "patch" }, "tool_choice"],
      [{ type: "function", name: "patch" }, "tool_choice"],
      [{ type: "allowed_tools", mode: "auto", tools: [{ type: "web_search" }] }, "tool_choice.tools.0.type"],
    ],
    schemaPath: "tools.3.parameters",
  },
];

describe.each(ENDPOINTS)("tools of other types at $path", ({ path, base, tool, others, choices, schemaPath }) => {
  const post = (body: object) => api.call("POST", path, { body: { ...base, ...body } });
  const [first, second] = others;
  const sum = tool("sum", { type: "object" });

  it("are not offered to the model, and are named", async () => {
    const { status, headers } = await post({ tools: [first, sum, second] });
    expect([status, headers.get("atoll-ignored")]).toEqual([200, "tools[0], tools[2]"]);
    const { input } = api.jobs.submitted[0] ?? {};
    expect(input?.["tools"]).toMatchObject([{ type: "function", function: { name: "sum" } }]);
    expect((await post({ tools: [first] })).status).toBe(200);
    expect(api.jobs.submitted[1]?.input).not.toHaveProperty("tools");
  });

  it.each(choices)("cannot be chosen by %j", async (choice, param) => {
    const tools = choices[0]?.[0] === choice ? others : [sum, ...others];
    const { status, body } = await post({ tools, tool_choice: choice });
    expect([status, body.error.details[0].path]).toEqual([422, param]);
    expect(body.error.message).toMatch(/(is|are) (not )?(among the tools that the model is )?offered/);
    expect(api.jobs.submitted).toEqual([]);
  });

  it("leave the paths of errors unchanged", async () => {
    const { status, body } = await post({ tools: [first, sum, second, tool("add", NO_OBJECT)] });
    expect([status, body.error.details[0].path]).toEqual([422, schemaPath]);
    const doubled = await post({ tools: [first, sum, second, sum] });
    expect(doubled.body.error.details[0].path).toMatch(/^tools\.3\./);
    const wrong = await post({ tools: [first, tool("no name", {})] });
    expect(wrong.body.error.details.map((detail: { path: string }) => detail.path)).toEqual([
      schemaPath.replace("3", "1").replace(/[a-z_]+$/, "name"),
    ]);
  });

  it("need a type", async () => {
    const { status, body } = await post({ tools: [{}] });
    expect([status, body.error.details[0].path]).toEqual([422, expect.stringMatching(/^tools\.0/)]);
  });
});
