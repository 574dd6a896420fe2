import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addReading, judgeReading, verdictOf } from "../../../coordinator/audits/evidence.ts";
import { checkReading, drawPositions, type Score, scoreReading } from "../../../coordinator/audits/reading.ts";
import { NO_EVIDENCE, type Verdict } from "../../../coordinator/credits/standing.ts";
import type { HostedCargo } from "../../../island-agent/runtimes/host/hosted-cargo.ts";
import { chatInputSchema, chatRequestOf } from "../../../shared/chat-input.ts";
import {
  collect,
  makeCargo,
  makeRequest,
  makeRuntime,
  NEVER,
  TINY_ISLANDER,
} from "../../island-agent/runtimes/llmcpp/llmcpp-support.ts";
import { seededRandom } from "./made-readings.ts";

const STORY = "Tell me a story about a turtle.";
const CANNED = "I am sorry, but I cannot help you with that. Please ask me something else.";
const random = seededRandom(1);

describe("an audit with the demo model", () => {
  let llm: HostedCargo;
  beforeAll(async () => {
    llm = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  async function read(input: object, text: string, hasEnd = true): Promise<Score> {
    const request = { text, has_end: hasEnd, at: drawPositions(24, random) };
    const { output } = await llm.run(makeRequest({ ...input, read: request }), () => {}, NEVER);
    const reading = checkReading(output, request);
    if ("problem" in reading) throw new Error(reading.problem);
    return scoreReading(reading, chatOf(input), hasEnd);
  }
  const chatOf = (input: object) => chatRequestOf(chatInputSchema.parse(input));
  async function verdictOn(input: object, text: string): Promise<Verdict> {
    return judgeReading(await read(input, text), chatOf(input));
  }

  it.each([
    { temperature: 0 },
    { temperature: 0.3 },
    { temperature: 0.8 },
    { temperature: 1 },
    { temperature: 1.2 },
    { temperature: 0.8, top_p: 0.9, top_k: 0 },
    { temperature: 0.8, top_k: 40, top_p: 1 },
    { temperature: 0.8, top_k: 0, top_p: 1, min_p: 0.05 },
  ])("finds honest answers consistent: %j", async (sampling) => {
    for (const prompt of [STORY, "Count from 3 to 12.", "What is 4 plus 5?", "What is a Cargo?"]) {
      const input = { prompt, max_tokens: 120, ...sampling };
      const { text, finishReason } = await collect(llm, makeRequest(input));
      expect(judgeReading(await read(input, text, finishReason === "stop"), chatOf(input))).toBe("consistent");
    }
  });

  it.each([
    ["one character", "a"],
    ["one no-break space", "\u00A0"],
    ["two tokens", "One day"],
    ["a canned text", CANNED],
    ["the prompt", STORY],
    ["random words", "rope seven gull reef is lamp sand of blue tide moon Kite"],
    ["an answer to another prompt", "4 plus 5 is 9."],
  ])("finds another text inconsistent: %s", async (_, text) => {
    for (const temperature of [0, 0.8]) {
      expect(await verdictOn({ prompt: STORY, temperature }, text)).toBe("inconsistent");
    }
  });

  it.each<[string, (story: string) => { readonly prompt: string; readonly text: string }]>([
    ["the first three words", (story) => ({ prompt: STORY, text: story.split(" ").slice(0, 3).join(" ") })],
    ["a prefix that is called complete", (story) => ({ prompt: STORY, text: story.slice(0, story.length / 3) })],
    ["a wrong number", () => ({ prompt: "What is 4 plus 5?", text: "4 plus 5 is 2." })],
  ])("finds an Island inconsistent that always sends %s", async (_, lie) => {
    let evidence = NO_EVIDENCE;
    for (let readings = 0; verdictOf(evidence) !== "inconsistent"; readings += 1) {
      expect(readings).toBeLessThan(8);
      const { text: story } = await collect(llm, makeRequest({ prompt: STORY, temperature: 0.8, max_tokens: 120 }));
      const { prompt, text } = lie(story);
      evidence = addReading(evidence, await read({ prompt, temperature: 0.8 }, text));
    }
  });

  it("finds an answer in JSON unclear at worst, because a grammar chose its tokens", async () => {
    const input = { prompt: STORY, temperature: 0.8, response_format: { type: "json_object" } };
    expect(await verdictOn(input, '{"zebra": "qqq"}')).toBe("unclear");
  });
});
