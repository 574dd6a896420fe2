import { describe, expect, it } from "vitest";
import { completionFault, schemaFault } from "../../../coordinator/catalog/completion-schema.ts";

describe("completionFault()", () => {
  it.each<[unknown, object, string]>([
    [{ a: 5 }, { properties: { a: { maximum: 4 } } }, "/a must be <= 4"],
    ["b", { type: "string", pattern: "^(?=a)" }, "must match pattern"],
    ["2026-02-30", { format: "date" }, 'must match format "date"'],
    [[1, 1], { uniqueItems: true }, "duplicate items"],
    [
      { a: { a: 5 } },
      { properties: { a: { $ref: "#" } }, additionalProperties: false, type: "object" },
      "/a/a must be object",
    ],
    [[1, 2], { items: [{}], additionalItems: false }, "must NOT have more than 1 items"],
    [{ $id: 5 }, { properties: { $id: { type: "string" } } }, "/$id must be string"],
    [undefined, { type: "object" }, "must be object"],
  ])("reports that %j violates %j", (value, schema, message) =>
    expect(completionFault({ ...schema }, value)).toContain(message),
  );

  it.each<[unknown, object]>([
    [0.3, { multipleOf: 0.1 }],
    [{ id: "x" }, { const: { id: "x" } }],
    ["x", { $id: "https://example.com/a", type: "string" }],
    ["y", { $id: "https://example.com/a", enum: ["y"] }],
    ["x", { type: "string", format: "starts_with", "x-note": 1, nullable: true }],
  ])("accepts %j for %j", (value, schema) => expect(completionFault({ ...schema }, value)).toBeNull());

  it("aborts a pattern that backtracks endlessly", () => {
    const fault = completionFault({ type: "string", pattern: "^(a+)+$" }, `${"a".repeat(60)}!`);
    expect(fault).toContain("takes too long to check");
  });
});

describe("schemaFault()", () => {
  it("accepts valid schemas and reports invalid ones", () => {
    expect(schemaFault({ type: "object", properties: { id: { type: "string" } } })).toBeNull();
    expect(schemaFault({ required: "a" })).toContain("/required must be array");
  });
});
