import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatInputJsonSchema } from "../../../coordinator/catalog/default-schemas.ts";
import { FieldFailure } from "../../../web/src/components/field-failure.ts";
import { draftOf, readDraft } from "../../../web/src/components/schema-form/draft.ts";
import { controlFor, membersOf, type InputSchema } from "../../../web/src/components/schema-form/input-schema.ts";

const CARGOS = join(import.meta.dirname, "..", "..", "..", "catalog", "cargos");
const SCHEMA: InputSchema = {
  type: "object",
  required: ["prompt"],
  properties: {
    steps: { type: "integer", minimum: 1, maximum: 100, default: 25 },
    prompt: { type: "string" },
    width: { enum: [384, 512], default: 512 },
    sorted: { type: "boolean", default: true },
    labels: { type: "array", items: { type: "string" } },
    image: { type: "string", contentEncoding: "base64" },
    slug: { type: "string", maxLength: 20 },
    data: {},
  },
};

const failureOf = (draft: Readonly<Record<string, string | boolean>>) => {
  try {
    readDraft(SCHEMA, { prompt: "x", ...draft });
  } catch (error) {
    return error instanceof FieldFailure ? [error.path, error.message] : error;
  }
  return null;
};

describe("the schema form", () => {
  it("has a control for each kind of member, required ones first", () => {
    expect(membersOf(SCHEMA).map(({ name, schema }) => `${name} ${controlFor(schema)}`)).toEqual([
      "prompt text",
      "steps number",
      "width choice",
      "sorted check",
      "labels lines",
      "image file",
      "slug line",
      "data json",
    ]);
  });

  it("reads typed members and omits empty ones", () => {
    const draft = { prompt: "<b>", steps: "7", width: "384", sorted: false, labels: "a\n\nb", data: "[1]", slug: "" };
    expect(readDraft(SCHEMA, draft)).toEqual({
      prompt: "<b>",
      steps: 7,
      width: 384,
      sorted: false,
      labels: ["a", "b"],
      data: [1],
    });
    expect(readDraft(SCHEMA, { prompt: "x", sorted: true })).toEqual({ prompt: "x" });
  });

  it.each([
    [{ prompt: "" }, "input.prompt", /required/],
    [{ steps: "many" }, "input.steps", /Enter a number/],
    [{ steps: "1.5" }, "input.steps", /whole/],
    [{ steps: "0" }, "input.steps", /at least 1/],
    [{ steps: "101" }, "input.steps", /at most 100/],
    [{ data: "{" }, "input.data", /JSON/],
  ])("reports the error at the field for %j", (draft, path, message) => {
    expect(failureOf(draft)).toEqual([path, expect.stringMatching(message)]);
  });

  it("uses number, check box and choice controls for a chat, with its defaults", () => {
    const members = membersOf(chatInputJsonSchema);
    const controls = Object.fromEntries(members.map(({ name, schema }) => [name, controlFor(schema)]));
    expect(controls).toMatchObject({
      ...{ prompt: "text", max_tokens: "number", temperature: "number", top_p: "number", seed: "number" },
      ...{ raw: "check", parallel_tool_calls: "check", reasoning_effort: "choice", stop: "lines" },
    });
    const json = Object.keys(controls).filter((name) => controls[name] === "json");
    expect(json).toEqual(["messages", "logit_bias", "response_format", "tools", "tool_choice"]);
    const defaults = members.filter(({ schema }) => schema.default !== undefined);
    expect(defaults.map(({ name, schema }) => [name, schema.default])).toEqual([
      ["max_tokens", 1_024],
      ["temperature", 0.7],
      ["parallel_tool_calls", true],
    ]);
    const read = (draft: object) =>
      readDraft(chatInputJsonSchema, {
        ...draftOf(chatInputJsonSchema, { prompt: "Hi" }),
        ...draft,
      });
    expect(read({})).toEqual({ prompt: "Hi" });
    expect(read({ temperature: "0", stop: "a\nb", parallel_tool_calls: false, reasoning_effort: '"low"' })).toEqual({
      ...{ prompt: "Hi", temperature: 0, stop: ["a", "b"], parallel_tool_calls: false, reasoning_effort: "low" },
    });
    expect(() => read({ top_p: "0" })).toThrow("Must be more than 0");
  });

  it("returns the example input of every shipped Cargo", () => {
    let forms = 0;
    for (const name of readdirSync(CARGOS)) {
      const cargo = JSON.parse(readFileSync(join(CARGOS, name), "utf8")) as {
        input_schema?: InputSchema;
        example_input?: Record<string, unknown>;
      };
      if (cargo.input_schema === undefined || cargo.example_input === undefined) continue;
      forms += 1;
      const read = readDraft(cargo.input_schema, draftOf(cargo.input_schema, cargo.example_input));
      const defaults = Object.entries(cargo.input_schema.properties ?? {});
      // A check box at its default is omitted, because the coordinator applies the default.
      const boxes = defaults.filter(([, { type, default: value }]) => type === "boolean" && value !== undefined);
      const filled = Object.fromEntries(boxes.map(([member, schema]) => [member, schema.default]));
      expect({ ...filled, ...read }, name).toEqual({ ...filled, ...cargo.example_input });
    }
    expect(forms).toBeGreaterThan(30);
  });
});
