import { describe, expect, it } from "vitest";
import { argumentsSchemaOf, callSchemaOf, looseTools, toolErrors } from "../../shared/grammar/call-schema.ts";
import { toolFields, toolUseOf, type ToolFields } from "../../shared/chat-tools.ts";
import { UnsupportedSchema } from "../../shared/grammar/grammar-schema.ts";
import { chatFeaturesOf } from "../../shared/features/features.ts";
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
    [
      { tool_choice: "required" },
      { path: "tool_choice", message: expect.stringMatching(/^requires functions in tools/) },
    ],
    [
      { tools, tool_choice: named("b") },
      { path: "tool_choice", message: '"b" must be one of the tools that the model is offered' },
    ],
    [{ tools: [...tools, tool("a")] }, { path: "tools.1.function.name", message: '"a" names two tools' }],
    [{ tools, response_format: { type: "json_object" } }, null],
    [{ tools, tool_choice: "none", response_format: { type: "json_object" } }, null],
    [
      { tools: [...tools, tool("b", { type: "string" })] },
      { path: "tools.1.function.parameters", message: "must be the schema of an object" },
    ],
  ])("finds the errors of %j: %j", (input, expected) => {
    expect(errorsOf(input)).toEqual(expected === null ? [] : [expected]);
  });

  it("names the path in a strict schema that a grammar cannot enforce", () => {
    const unkept = { properties: { x: { not: {} } } };
    const [error] = errorsOf({ tools: [...tools, tool("b", unkept, true)] });
    expect(error?.path).toBe("tools.1.function.parameters.properties.x");
  });

  it("rejects strict tools that cost too much together, even if none costs too much on its own", () => {
    const strict = Array.from({ length: 11 }, (_, index) => tool(`t${index}`, words(1_900), true));
    expect(errorsOf({ tools: strict.slice(0, 5) })).toEqual([]);
    expect(errorsOf({ tools: strict })).toEqual([
      { path: "tools", message: expect.stringContaining("add up to 20900") },
    ]);
  });
});

const words = (minLength: number) => ({ properties: { word: { type: "string", minLength } } });

describe("looseTools()", () => {
  const looseOf = (tools: object[]) => [...looseTools(toolUseOf(read({ tools }))?.tools ?? [])];

  it("returns tools without strict whose schemas no grammar can enforce", () => {
    const schemas = [
      { properties: { x: { not: {} } } },
      { patternProperties: { "^a": {} } },
      { oneOf: [{ type: "object" }, { type: "null" }] },
      { $ref: "#/$defs/missing" },
      { properties: Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`p${at}`, {}])) },
    ];
    const tools = schemas.map((schema, index) => tool(`t${index}`, schema));
    expect(errorsOf({ tools })).toEqual([]);
    expect(looseOf([tool("kept", { properties: { x: { type: "string" } } }), ...tools])).toEqual([
      "t0",
      "t1",
      "t2",
      "t3",
      "t4",
    ]);
  });

  it("returns only as many of the costliest tools without strict as needed if all together cost too much", () => {
    const many = Array.from({ length: 11 }, (_, index) => tool(`t${index}`, words(1_900), index === 0));
    const tools = [...many, tool("costliest", words(1_999))];
    expect(errorsOf({ tools })).toEqual([]);
    expect(looseOf(tools)).toEqual(["costliest", "t1"]);
  });

  it("returns the remaining tools without strict once the references have expanded to too many parts", () => {
    const pair = (next: string) => ({ type: "object", properties: { a: { $ref: next }, b: { $ref: next } } });
    const doubling = {
      ...pair("#/$defs/d0"),
      $defs: {
        ...Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`d${at}`, pair(`#/$defs/d${at + 1}`)])),
        d10: { type: "string" },
      },
    };
    const many = Array.from({ length: 4 }, (_, index) => tool(`t${index}`, doubling));
    expect(looseOf(many)).toEqual(["t2", "t3"]);
    expect(errorsOf({ tools: many })).toEqual([]);
    const strict = many.map((each, index) => (index === 3 ? tool("strict", doubling, true) : each));
    expect(errorsOf({ tools: strict })).toEqual([
      { path: "tools.3.function.parameters", message: expect.stringContaining("expand to too many parts") },
    ]);
  });

  it("returns none of a large set of tools such as those of MCP servers", () => {
    const filter = {
      type: "object",
      properties: { since: { type: "string", format: "date-time" }, state: { enum: ["open", "closed"] } },
      required: ["state"],
    };
    const properties = (at: number) => ({
      [`text${at}`]: { type: "string", description: "what to look for".repeat(3) },
      [`list${at}`]: { type: "array", items: { type: "string" } },
      [`page${at}`]: { type: "integer", minimum: 1, maximum: 100 },
      [`kind${at}`]: { type: "string", enum: ["a", "b", `c${at}`] },
      [`filter${at}`]: filter,
    });
    const tools = Array.from({ length: 100 }, (_, index) =>
      tool(`mcp__server__tool${index}`, { type: "object", properties: { ...properties(1), ...properties(2) } }),
    );
    expect(errorsOf({ tools })).toEqual([]);
    expect(looseOf(tools)).toEqual([]);
    expect(JSON.stringify(tools).length).toBeGreaterThan(80_000);
  });

  it("returns tools whose arguments become any object in the schema of a call", () => {
    const use = toolUseOf(read({ tools: [tool("a", { properties: { x: { not: {} } } })] }));
    expect(callSchemaOf(use?.tools ?? [])).toEqual({
      oneOf: [
        {
          type: "object",
          properties: { name: { const: "a" }, arguments: { type: "object", additionalProperties: true } },
        },
      ],
    });
  });
});

describe("argumentsSchemaOf()", () => {
  const RUN = {
    type: "object",
    properties: { command: { type: "string" }, timeout: { type: "integer" }, background: { type: "boolean" } },
    required: ["command"],
  };
  const argumentsOf = (parameters: object, isStrict: boolean) =>
    argumentsSchemaOf({ name: "run", description: null, parameters: { ...parameters }, isStrict });

  it("lets a model omit optional properties unless strict is set", () => {
    expect(argumentsOf(RUN, false)).toMatchObject({ optional: ["timeout", "background"] });
    expect(argumentsOf(RUN, true)).not.toHaveProperty("optional");
  });

  it("requires every property if an object has very many, or if alternatives would be ambiguous", () => {
    const many = {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`p${at}`, {}])),
    };
    expect(argumentsOf(many, false)).not.toHaveProperty("optional");
    const [one, two] = ["a", "b"].map((name) => {
      return {
        type: "object",
        properties: { [name]: { $ref: "#/$defs/x" }, kind: { const: name } },
        required: ["kind"],
      };
    });
    const recursive = { type: "object", properties: { x: { $ref: "#/$defs/x" } }, $defs: { x: { anyOf: [one, two] } } };
    expect(() => argumentsOf(recursive, false)).toThrow(UnsupportedSchema);
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

it("callSchemaOf() separates the definitions of each tool, even with a property named like a keyword", () => {
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

it("chatFeaturesOf() requires tools if they may be called or were called", () => {
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
  expect(features(json)).toEqual(["chat.json", "chat.tools", "chat.tools-json"]);
  expect(features({ ...json, tool_choice: "required" })).toEqual(["chat.json", "chat.tools"]);
});

it("chatFeaturesOf() requires chat.large if agents of earlier versions would refuse the chat", () => {
  const features = (input: object) => chatFeaturesOf(chatInputSchema.parse(input));
  const messages = (count: number) => Array.from({ length: count }, () => ({ role: "user", content: "a" }));
  expect(features({ messages: messages(128) })).toEqual([]);
  expect(features({ messages: messages(129) })).toEqual(["chat.large"]);
  expect(chatInputSchema.safeParse({ messages: messages(4_097) }).success).toBe(false);
  const long = { ...tool("a"), function: { name: "a", description: "a".repeat(65_536) } };
  expect(features({ prompt: "a", tools: [long] })).toEqual(["chat.large", "chat.tools"]);
  const unkept = tool("a", { properties: { x: { not: {} } } });
  expect(features({ prompt: "a", tools: [unkept] })).toEqual(["chat.large", "chat.tools"]);
});
