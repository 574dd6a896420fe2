import type { LlamaContextSequence, Token } from "node-llama-cpp";
import { expect, it } from "vitest";
import type { LogitReader } from "../../../../island-agent/runtimes/llmcpp/logit-reader.ts";
import { readAnswer } from "../../../../island-agent/runtimes/llmcpp/read-answer.ts";
import type { BatchLoop } from "../../../../island-agent/runtimes/llmcpp/batch-loop.ts";
import { settle } from "../../../support/event-log.ts";

const ID = 3;
const tokens = (...ids: readonly number[]) => ids as Token[];
const [END, OTHER_END] = tokens(90, 91) as [Token, Token];

/** Reads an answer with a model for which token 1 is always the most probable, and the other end the second. */
async function readWith(answer: readonly Token[], ends: readonly Token[], at: readonly number[]) {
  const log: string[] = [];
  const followers: BatchLoop["followers"] = new Map();
  const sequence = {
    async controlledEvaluate(input: readonly (Token | [Token, unknown])[]) {
      for (const [index, item] of input.entries()) {
        log.push(`${index}`);
        if (!Array.isArray(item)) continue;
        const sampled = settle().then(() => void log.push("sampled"));
        await followers.get(ID)?.(index, sampled);
      }
    },
  } as unknown as LlamaContextSequence;
  const reader: Pick<LogitReader, "read"> = {
    read: async (batchIndex, token) => {
      log.push(`read ${batchIndex}`);
      const top = [
        { token: 1 as Token, logprob: -0.123_456 },
        { token: OTHER_END, logprob: -3 },
        { token: 4 as Token, logprob: -20.5 },
      ];
      return { token, logprob: top.find((each) => each.token === token)?.logprob ?? -30, top };
    },
  };
  const prompt = tokens(5, 6, 7);
  const reading = { sequence, id: ID, loop: { followers }, reader, tokens: { prompt, answer, ends } };
  const output = await readAnswer(reading, { at: [...at] }, new AbortController().signal);
  return { output, log, followers };
}

it("readAnswer() reads each position before its token, and evaluates all tokens but the last", async () => {
  const { output, log, followers } = await readWith(tokens(1, 2, 1), [], [0]);
  expect(output).toEqual({
    prompt_tokens: 3,
    tokens: 3,
    positions: [0, 2].map((index) => ({
      index,
      token: 1,
      logprob: -0.1235,
      top: [
        [1, -0.1235],
        [91, -3],
      ],
    })),
  });
  expect(log.filter((each) => /^\d/.test(each))).toEqual(["0", "1", "2", "3", "4"]);
  expect(followers.size).toBe(0);
});

it("readAnswer() waits for the sampled token before it reads, since both use the context", async () => {
  const { log } = await readWith(tokens(1, 2, 1), [], [0]);
  expect(log.filter((each) => !/^\d/.test(each))).toEqual(["sampled", "read 2", "sampled", "read 4"]);
});

it("readAnswer() reads the most probable of several end tokens", async () => {
  const endOf = async (ends: readonly Token[]) => (await readWith(tokens(2), ends, [0])).output.positions.at(-1);
  expect(await endOf([END])).toMatchObject({ index: 1, token: END, logprob: -30 });
  expect(await endOf([END, OTHER_END])).toMatchObject({ index: 1, token: OTHER_END, logprob: -3 });
});
