import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Answer } from "../../../coordinator/checks/answer-check.ts";
import { checkBudgets } from "../../../coordinator/checks/check-budget.ts";
import { type Checks, openChecks } from "../../../coordinator/checks/checks.ts";
import type { CheckedCargo } from "../../../coordinator/catalog/input-check.ts";
import { chatInputJsonSchema } from "../../../coordinator/catalog/default-schemas.ts";
import { toolUseOf } from "../../../shared/chat-tools.ts";
import { systemClock } from "../../../shared/clock.ts";
import { knowsCheckOf } from "../../../shared/grammar/call-schema.ts";

let checks: Checks;
let budgets: ReturnType<typeof checkBudgets>;
beforeEach(() => {
  budgets = checkBudgets(systemClock);
  checks = openChecks(systemClock, budgets);
});
afterEach(() => checks.close());

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);
const chat: CheckedCargo = { isChat: true, inputSchema: chatInputJsonSchema, contextTokens: 8_192 };
const wide = (parts: number) => ({
  type: "object",
  properties: Object.fromEntries(range(parts).map((each) => [`p${each}`, { type: "string", minLength: 1 }])),
});
const inputs = (cargo: CheckedCargo, ...given: Record<string, unknown>[]) =>
  checks.inputs(
    "a",
    cargo,
    given.map((input, index) => ({ root: `inputs.${index}`, input })),
  );
const formatOf = (schema: Record<string, unknown>) =>
  ({ type: "json_schema", json_schema: { name: "answer", schema } }) as const;
const answerOf = (text: string, responseFormat: Answer["request"]["responseFormat"]): Answer => ({
  text,
  calls: [],
  finishReason: "stop",
  request: { responseFormat, stopBytes: 0, toolUse: null },
});

describe("inputs()", () => {
  it("checks a chat of 500 KB at once", () => {
    const messages = range(500).map((each) => ({
      role: each % 2 === 0 ? "user" : "assistant",
      content: "a".repeat(1_000),
    }));
    expect(inputs(chat, { messages })).toMatchObject([{ root: "inputs.0", input: { messages } }]);
  });

  it("checks expensive inputs in a thread, with the same errors", async () => {
    const cargo: CheckedCargo = { isChat: false, inputSchema: wide(400) };
    const found = inputs(cargo, { p0: "a" }, { p0: "", p399: 1 });
    expect(found).toBeInstanceOf(Promise);
    await expect(found).rejects.toMatchObject({
      details: [
        { path: "inputs.1.p0", message: expect.stringContaining("must NOT have fewer") },
        { path: "inputs.1.p399", message: "must be string" },
      ],
    });
    expect(await inputs(cargo, { p0: "a" })).toEqual([
      { root: "inputs.0", input: { p0: "a" }, inputJson: '{"p0":"a"}' },
    ]);
  });

  it("checks many inputs in a thread if they are expensive together", async () => {
    const cargo: CheckedCargo = { isChat: false, inputSchema: wide(30) };
    const input = { p0: "a".repeat(200_000) };
    expect(inputs(cargo, input)).not.toBeInstanceOf(Promise);
    const found = inputs(cargo, ...range(100).map(() => input));
    expect(found).toBeInstanceOf(Promise);
    expect(await found).toHaveLength(100);
  });

  it("checks large tools in a thread, and knows the result afterwards", async () => {
    const parameters = wide(600);
    const input = { prompt: "a", tools: [{ type: "function" as const, function: { name: "b", parameters } }] };
    const found = inputs(chat, input);
    expect(found).toBeInstanceOf(Promise);
    await found;
    expect(knowsCheckOf(toolUseOf(input)?.tools ?? [])).toBe(true);
    expect(inputs(chat, input)).not.toBeInstanceOf(Promise);
  });

  it("refuses expensive inputs of an account that has used its time, and no others", async () => {
    budgets.add("a", 60_000);
    const cargo: CheckedCargo = { isChat: false, inputSchema: wide(400) };
    await expect(inputs(cargo, { p0: "a" })).rejects.toMatchObject({ code: "rate_limited", limit: "check_time" });
    expect(inputs(chat, { prompt: "a" })).toHaveLength(1);
  });
});

describe("answer()", () => {
  it("checks plain text at once", () => {
    expect(checks.answer("a", answerOf("a".repeat(10_000_000), { type: "text" }))).toEqual({ fits: true, unmet: null });
  });

  it("checks a short answer to a small schema at once", () => {
    const answer = answerOf('{"p0":"a","p1":"b"}', formatOf(wide(2)));
    expect(checks.answer("a", answer)).toEqual({ fits: true, unmet: null });
  });

  it.each([
    ["a large schema", answerOf("{}", formatOf(wide(200))), { fits: false, unmet: null }],
    [
      "a pattern that may backtrack",
      answerOf('"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"', formatOf({ type: "string", pattern: "^(?=(a+)+$)b" })),
      { fits: true, unmet: expect.stringContaining("too long") },
    ],
    ["a long text", answerOf(`[${"1,".repeat(900_000)}1]`, { type: "json_object" }), { fits: true, unmet: null }],
  ])("checks %s in a thread", async (_, answer, expected) => {
    const found = checks.answer("a", answer);
    expect(found).toBeInstanceOf(Promise);
    expect(await found).toEqual(expected);
  });

  it("does not parse more than 8 Mi characters", () => {
    const answer = answerOf("[".repeat(9_000_000), formatOf({ type: "array" }));
    expect(checks.answer("a", answer)).toEqual({ fits: true, unmet: expect.stringContaining("too long") });
  });
});

describe("output()", () => {
  it("checks a value that is expensive in a thread, and others at once", async () => {
    expect(checks.output("a", wide(2), { p0: "" })).toBe(false);
    const found = checks.output("a", { type: "array", items: { anyOf: [{ type: "number" }] } }, range(1_000_000));
    expect(await found).toBe(true);
    expect(found).toBeInstanceOf(Promise);
  });
});
