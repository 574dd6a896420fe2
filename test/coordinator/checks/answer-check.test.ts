import { describe, expect, it } from "vitest";
import { MAX_LOOP_STEPS } from "../../../coordinator/catalog/schema-rules.ts";
import { answerSteps } from "../../../coordinator/checks/answer-check.ts";
import { MAX_TOOL_CALLS } from "../../../shared/chat-tools.ts";

describe("answerSteps()", () => {
  it("does not write a large schema for each call of its tool", () => {
    let writes = 0;
    const schema = { type: "object", description: "a".repeat(20_000) };
    const parameters = {
      toJSON: () => {
        writes += 1;
        return schema;
      },
    };
    const tools = [{ name: "f", description: null, parameters, isStrict: false }];
    const call = { id: "1", type: "function" as const, function: { name: "f", arguments: "{}" } };
    const steps = answerSteps({
      text: "",
      calls: Array.from({ length: MAX_TOOL_CALLS }, () => call),
      finishReason: "tool_calls",
      request: {
        responseFormat: { type: "text" },
        stopBytes: 0,
        toolUse: { tools, isRequired: false, maxCalls: MAX_TOOL_CALLS },
      },
    });
    expect(steps).toBeGreaterThan(MAX_LOOP_STEPS);
    expect(writes).toBeLessThan(4);
  });
});
