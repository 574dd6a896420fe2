import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatInputSchema, MAX_INPUT_BYTES, type ChatMessage } from "../../../shared/chat-input.ts";
import { estimateTokens, fitHistory, shortenHistory } from "../../../coordinator/conversations/fit-history.ts";
import type { Message } from "../../../coordinator/store/conversations.ts";

function makeMessage(role: Message["role"], content: string): Message {
  return {
    id: "msg_1",
    conversationId: "conv_1",
    role,
    content,
    state: "completed",
    jobId: null,
    finishReason: null,
    error: null,
    createdAtMs: 0,
    completedAtMs: 0,
  };
}

/** Returns messages from "question/answer" pairs. */
function historyOf(...turns: [string, string][]): Message[] {
  return turns.flatMap(([question, answer]) => [makeMessage("user", question), makeMessage("assistant", answer)]);
}

const contentsOf = (messages: readonly ChatMessage[] | undefined): string[] | undefined =>
  messages?.map(({ content }) => content);

const ROOMY = { contextTokens: 10_000, maxTokens: 100 };

describe("fitHistory()", () => {
  it("keeps all that fits, in order, with the system prompt first and the question last", () => {
    const messages = fitHistory("Be kind", historyOf(["a", "b"], ["c", "d"]), "e", ROOMY);
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user", "assistant", "user"]);
    expect(contentsOf(messages)).toEqual(["Be kind", "a", "b", "c", "d", "e"]);
  });

  it("drops the oldest turns first and whole, and never the system prompt", () => {
    const long = "x".repeat(300);
    const history = historyOf([long, "1"], ["2", long], ["3", "4"]);
    const system = "y".repeat(300);
    // The system prompt and the long message take 108 bytes each, and each short message takes 9. With 100 for the
    // answer, 243 are left, of which 117 are used.
    const fit = (contextTokens: number) =>
      contentsOf(fitHistory(system, history, "5", { contextTokens, maxTokens: 100 }));
    expect(fit(100 + 117 + 18 + 117)).toEqual([system, "2", long, "3", "4", "5"]);
    expect(fit(100 + 117 + 18 + 116)).toEqual([system, "3", "4", "5"]);
    expect(fit(100 + 117 + 17)).toEqual([system, "5"]);
    expect(fit(1)).toEqual([system, "5"]);
  });

  it("reserves at most half of the context for the answer", () => {
    const history = historyOf(["a", "b"]);
    expect(contentsOf(fitHistory(null, history, "c", { contextTokens: 54, maxTokens: 4_096 }))).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(contentsOf(fitHistory(null, history, "c", { contextTokens: 52, maxTokens: 4_096 }))).toEqual(["c"]);
  });

  it("drops questions without text in their answer, and an answer whose question was not read", () => {
    const history = [makeMessage("assistant", "0"), ...historyOf(["a", ""], ["b", "part"])];
    expect(contentsOf(fitHistory(null, history, "c", ROOMY))).toEqual(["b", "part", "c"]);
  });

  it("reserves exactly the size of the other fields of the input", () => {
    const history = historyOf(["a".repeat(50_000), "b"]);
    const fit = (bytes: number) => {
      const otherFields = { response_format: "d".repeat(bytes) };
      const messages = fitHistory(null, history, "c", { contextTokens: null, maxTokens: 100, otherFields });
      expect(Buffer.byteLength(JSON.stringify({ messages, ...otherFields }))).toBeLessThanOrEqual(MAX_INPUT_BYTES);
      return messages.length;
    };
    expect([fit(MAX_INPUT_BYTES - 50_200), fit(MAX_INPUT_BYTES - 50_000), fit(MAX_INPUT_BYTES - 100)]).toEqual([
      3, 1, 1,
    ]);
  });

  it("returns a valid input of a job for any messages", () => {
    const text = fc
      .string({ unit: "binary", maxLength: 40 })
      .chain((part) => fc.integer({ min: 0, max: 800 }).map((times) => part.repeat(times)));
    const turn = fc.tuple(text, text);
    fc.assert(
      fc.property(
        fc.option(text),
        fc.array(turn, { maxLength: 90 }),
        text,
        fc.option(fc.nat(200_000)),
        (system, turns, question, contextTokens) => {
          const messages = fitHistory(system, historyOf(...turns), question, { contextTokens, maxTokens: 1_024 });
          expect(chatInputSchema.safeParse({ messages }).success).toBe(true);
          const fixed = [system ?? "", question];
          const fixedBytes = Buffer.byteLength(JSON.stringify(fixed));
          if (fixedBytes < 200_000)
            expect(Buffer.byteLength(JSON.stringify({ messages }))).toBeLessThan(MAX_INPUT_BYTES);
          const past = messages.slice(system === null ? 0 : 1, -1);
          expect(past.map(({ role }) => role)).toEqual(
            past.map((_, index) => (index % 2 === 0 ? "user" : "assistant")),
          );
          const all = turns
            .filter(([, answer]) => answer !== "")
            .flatMap(([asked, answer]) => (asked === "" ? [] : [asked, answer]));
          expect(contentsOf(past)).toEqual(past.length === 0 ? [] : all.slice(-past.length));
          const used = messages.reduce((sum, { content }) => sum + estimateTokens(content), 0);
          if (past.length > 0 && contextTokens !== null) expect(used).toBeLessThanOrEqual(contextTokens);
        },
      ),
      { seed: 7, numRuns: 100 },
    );
  });
});

describe("shortenHistory()", () => {
  it("keeps the newer half, then less, then none", () => {
    const whole = fitHistory("s", historyOf(["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]), "q", ROOMY);
    const half = shortenHistory(whole, false);
    expect(contentsOf(half)).toEqual(["s", "e", "f", "g", "h", "q"]);
    expect(contentsOf(shortenHistory(half ?? [], false))).toEqual(["s", "g", "h", "q"]);
    expect(contentsOf(shortenHistory(whole, true))).toEqual(["s", "q"]);
    expect(shortenHistory(shortenHistory(whole, true) ?? [], false)).toBeUndefined();
  });

  it("always drops something", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string(), fc.string({ minLength: 1 })), { minLength: 1, maxLength: 30 }),
        (turns) => {
          const whole = fitHistory(
            null,
            historyOf(...turns.map(([a, b]): [string, string] => [`${a}?`, b])),
            "q",
            ROOMY,
          );
          expect((shortenHistory(whole, false) ?? []).length).toBeLessThan(whole.length);
        },
      ),
      { seed: 7 },
    );
  });
});
