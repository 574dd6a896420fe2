import { z } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { checkParameters, parametersOf } from "../../../../coordinator/http/openai/parameters.ts";
import { ValidationError } from "../../../../shared/errors.ts";
import { ignored, ignoredEntry, refused, requestObject } from "../../../../shared/request-object.ts";
import { parameterRows, parameterTable } from "../../../../tools/generated/parameter-tables.ts";

const other = ignoredEntry(z.object({ type: z.literal("other") }), "others", (entry) => entry !== "own");
const schema = requestObject({
  name: z.string().max(9).nullish().describe("A name"),
  user: ignored("a label", ["nobody"]),
  audio: refused("answers are text", [[]]),
  list: z.array(z.union([z.literal("own"), other])).nullish(),
  inner: z.union([z.string(), z.object({ a: z.int().min(1).max(4) })]).nullish(),
  free: z.record(z.string(), z.unknown()).nullish(),
})
  .refine(() => true)
  .openapi("Sample");

function faultsOf(body: unknown): unknown {
  try {
    return checkParameters(schema, body, "openai");
  } catch (error) {
    if (error instanceof ValidationError) return error.details;
    throw error;
  }
}

describe("checkParameters()", () => {
  it.each([
    [{ name: "a", free: { any: 1 }, inner: { a: 1 }, other: null }, []],
    [{ user: "a" }, ["user"]],
    [{ user: "nobody", audio: [] }, []],
    [{ list: ["own", "b"] }, ["list[1]"]],
    [{ list: Array.from({ length: 9 }, () => "b") }, ["list[]"]],
    [{ audio: {} }, [{ path: "audio", message: "is not supported: answers are text" }]],
    [{ inner: { b: 1 } }, [{ path: "inner.b", message: 'is not a parameter of this request; did you mean "a"?' }]],
    [{ something: 1 }, [{ path: "something", message: "is not a parameter of this request" }]],
  ])("checks %j by the schema's declarations, including copies of it", (body, expected) => {
    expect(faultsOf(body)).toEqual(expected);
  });
});

describe("tables of parameters", () => {
  it("have a row for each declaration, with the schema's limits", () => {
    expect(parameterRows(parametersOf(schema)).map(({ name, rule, note }) => [name, rule, note])).toEqual([
      ["name", "honoured", "up to 9 characters. A name"],
      ["user", "ignored", "a label"],
      ["audio", "refused", "answers are text"],
      ["list", "honoured", ""],
      ["list[]", "honoured", "Some entries are ignored: others"],
      ["inner", "honoured", ""],
      ["inner.a", "honoured", "1 to 4"],
      ["free", "honoured", ""],
    ]);
  });

  it("name the accepted values of ignored parameters", () => {
    expect(parameterTable(parametersOf(requestObject({ b: refused("use a | c", [[], false]) })))).toBe(
      "| Parameter | Rule | Note |\n|---|---|---|\n| `b` | refused | Use a \\| c. Accepted: `[]`, `false` |",
    );
  });
});
