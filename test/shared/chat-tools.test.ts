import { describe, expect, it } from "vitest";
import { callSchemaOf, toolErrors, toolFields, toolUseOf, type ToolFields } from "../../shared/chat-tools.ts";
import { chatFeaturesOf } from "../../shared/features.ts";
import { chatInputSchema } from "../../shared/chat-input.ts";
import { z } from "zod";

const fields = z.object(toolFields);
const tool = (name: string, parameters?: object, strict = false) => ({
  type: "function" as const,
  function: { name, strict, ...(parameters === undefined ? {} : { parameters }) },
});
const read = (input: object): ToolFields => fields.parse(input);
const errorsOf = (input: object) => toolErrors({ ...read(input), ...input });
const named = (name: string) => ({ type: "function", function: { name } });

describe("toolUseOf()", () => {
  const tools = [tool("a"), tool("b")];
  it.each([
    [{}, null],
    [{ tools: [] }, null],
    [{ tools, tool_choice: "none" }, null],
    [{ tools }, [["a", "b"], false, 16]],
    [{ tools, tool_choice: "auto", parallel_tool_calls: false }, [["a", "b"], false, 1]],
    [{ tools, tool_choice: "required", parallel_tool_calls: true }, [["a", "b"], true, 16]],
    [{ tools, tool_choice: named("b") }, [["b"], true, 1]],
    [{ tools, tool_choice: named("b"), parallel_tool_calls: true }, [["b"], true, 1]],
    [
      { tools, tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [named("a")] } } },
      [["a"], false, 16],
    ],
    [
      { tools, tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools: [named("a")] } } },
      [["a"], true, 16],
    ],
  ])("reads %j", (input, expected) => {
    const use = toolUseOf(read(input));
    expect(use && [use.tools.map(({ name }) => name), use.isRequired, use.maxCalls]).toEqual(expected);
  });
});

describe("toolErrors()", () => {
  const tools = [tool("a")];
  it.each<[object, { path: string; message: string } | null]>([
    [{ tools }, null],
    [{ tools: [], tool_choice: "auto" }, null],
    [{ tool_choice: "required" }, { path: "tool_choice", message: expect.stringMatching(/^needs functions in tools/) }],
    [
      { tools, tool_choice: named("b") },
      { path: "tool_choice", message: '"b" is not among the tools that the model is offered' },
    ],
    [{ tools: [...tools, tool("a")] }, { path: "tools.1.function.name", message: '"a" names two tools' }],
    [{ tools, response_format: { type: "json_object" } }, null],
    [{ tools, tool_choice: "none", response_format: { type: "json_object" } }, null],
    [
      { tools: [...tools, tool("b", { type: "string" })] },
      { path: "tools.1.function.parameters", message: "is not the schema of an object" },
    ],
  ])("finds in %j: %j", (input, expected) => {
    expect(errorsOf(input)).toEqual(expected === null ? [] : [expected]);
  });

  it("names the place in a schema that no grammar can keep", () => {
    const [error] = errorsOf({ tools: [...tools, tool("b", { properties: { x: { not: {} } } })] });
    expect(error?.path).toBe("tools.1.function.parameters.properties.x");
  });

  it("refuses tools that cost too much together, though each does not", () => {
    const words = (prefix: string) => ({ properties: { word: { type: "string", minLength: 1_900, title: prefix } } });
    const many = Array.from({ length: 11 }, (_, index) => tool(`t${index}`, words(`w${index}`)));
    expect(errorsOf({ tools: many.slice(0, 5) })).toEqual([]);
    expect(errorsOf({ tools: many })).toEqual([{ path: "tools", message: expect.stringContaining("add up to 20900") }]);
  });
});

it("callSchemaOf() keeps the definitions of a tool whose schema is a reference, as pydantic writes recursive models", () => {
  const node = { type: "object", properties: { next: { anyOf: [{ $ref: "#/$defs/Node" }, { type: "null" }] } } };
  const use = toolUseOf(read({ tools: [tool("a", { $ref: "#/$defs/Node", $defs: { Node: node } })] }));
  expect(callSchemaOf(use?.tools ?? [])).toMatchObject({
    oneOf: [{ properties: { arguments: { $ref: "#/$defs/0.Node" } } }],
    $defs: { "0.Node": { properties: { next: {} } } },
  });
});

it("callSchemaOf() keeps the definitions of each tool apart, also a property with the name of a keyword", () => {
  const list = { type: "array", items: { $ref: "#/$defs/x" } };
  const [first, second] = ["integer", "string"].map((type) => ({
    properties: { list, $ref: { type: "boolean" } },
    $defs: { x: { type } },
  }));
  const use = toolUseOf(read({ tools: [tool("a", first), tool("b", second)] }));
  expect(callSchemaOf(use?.tools ?? [])).toMatchObject({
    oneOf: [
      { properties: { name: { const: "a" }, arguments: { properties: { list: { items: { $ref: "#/$defs/0.x" } } } } } },
      {
        properties: {
          arguments: { properties: { list: { items: { $ref: "#/$defs/1.x" } }, $ref: { type: "boolean" } } },
        },
      },
    ],
    $defs: { "0.x": { type: "integer" }, "1.x": { type: "string" } },
  });
});

it("chatFeaturesOf() asks for tools where they may be called or were called", () => {
  const features = (input: object) => chatFeaturesOf(chatInputSchema.parse(input));
  const call = { id: "c", type: "function", function: { name: "a", arguments: "{}" } };
  const history = [
    { role: "assistant", tool_calls: [call] },
    { role: "tool", content: "1", tool_call_id: "c" },
  ];
  expect(features({ prompt: "a" })).toEqual([]);
  expect(features({ prompt: "a", tools: [tool("a")], tool_choice: "none" })).toEqual([]);
  expect(features({ prompt: "a", tools: [tool("a")], top_k: 1 })).toEqual(["chat.sampling2", "chat.tools"]);
  expect(features({ messages: history })).toEqual(["chat.tools"]);
  const json = { prompt: "a", tools: [tool("a")], response_format: { type: "json_object" } };
  expect(features(json)).toEqual(["chat.tools", "chat.tools-json"]);
  expect(features({ ...json, tool_choice: "required" })).toEqual(["chat.tools"]);
});
