import { describe, expect, it } from "vitest";
import { checkInput } from "../../coordinator/catalog/input-check.ts";
import { MAX_INPUT_BYTES } from "../../shared/chat-input.ts";
import { ValidationError, type FieldError } from "../../shared/errors.ts";

const CHAT = { isChat: true };
const OTHER = { isChat: false };

function detailsOf(input: Record<string, unknown>, cargo = CHAT, root?: string): readonly FieldError[] {
  try {
    checkInput(cargo, input, root);
  } catch (error) {
    if (error instanceof ValidationError) return error.details;
    throw error;
  }
  return [];
}
const pathsOf = (input: Record<string, unknown>): string[] => detailsOf(input).map(({ path }) => path);

describe("checkInput() of a chat Cargo", () => {
  it("takes a prompt, messages, nulls for defaults and unknown fields", () => {
    expect(detailsOf({ prompt: "Hello", max_tokens: 5, temperature: null, colour: "blue" })).toEqual([]);
    expect(detailsOf({ messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] })).toEqual([]);
  });
  it("names every wrong field", () => {
    expect(pathsOf({ messages: [{ role: "king", content: "a" }, { role: "user" }], max_tokens: 0, top_p: 2 })).toEqual([
      "input.messages.0.role",
      "input.messages.1.content",
      "input.max_tokens",
      "input.top_p",
    ]);
  });
  it("wants exactly one of prompt and messages", () => {
    expect(pathsOf({})).toEqual(["input.messages"]);
    expect(pathsOf({ prompt: "a", messages: [{ role: "user", content: "b" }] })).toEqual(["input.messages"]);
  });
  it("begins paths with the field that the caller names", () => {
    expect(detailsOf({}, CHAT, "body")[0]?.path).toBe("body.messages");
  });
});

describe("checkInput() of any Cargo", () => {
  it("takes 256 KiB of JSON and not a byte more", () => {
    const around = JSON.stringify({ prompt: "" }).length;
    expect(detailsOf({ prompt: "x".repeat(MAX_INPUT_BYTES - around) })).toEqual([]);
    expect(detailsOf({ prompt: "x".repeat(MAX_INPUT_BYTES - around + 1) })).toEqual([
      { path: "input", message: "is 262145 bytes as JSON; at most 262144 are taken" },
    ]);
  });
  it("counts bytes, not characters", () => {
    expect(detailsOf({ text: "é".repeat(MAX_INPUT_BYTES / 2) }, OTHER)).toHaveLength(1);
  });
  it("does not look into the input of other than chat Cargos", () => {
    expect(detailsOf({ anything: [1] }, OTHER)).toEqual([]);
  });
});
