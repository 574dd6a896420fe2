import { describe, expect, it } from "vitest";
import type { PipelineGraph } from "../../../../island-agent/runtimes/diffusers/pipeline-graph.ts";
import {
  encodePrompt,
  zeroEmbeddings,
  type PromptEncoder,
} from "../../../../island-agent/runtimes/diffusers/prompt-embeddings.ts";

/** A text encoder of two tokens, whose outputs are filled with one number each. */
function makeReader(part: string, width: number, outputs: Readonly<Record<string, number>>, tokens = 2): PromptEncoder {
  const isPooled = (name: string): boolean => name === "text_embeds" || name === "pooler_output";
  const encoder = {
    part,
    outputNames: Object.keys(outputs),
    run: () =>
      Promise.resolve(
        new Map(
          Object.entries(outputs).map(([name, value]) => {
            const dims = isPooled(name) ? [1, width] : [1, tokens, width];
            return [name, { data: new Float32Array(dims.reduce((a, b) => a * b)).fill(value), dims }];
          }),
        ),
      ),
  } as unknown as PipelineGraph;
  return { encoder, tokenize: () => ({ ids: Array<number>(tokens).fill(0), textTokens: 1 }) };
}

const FIRST = {
  last_hidden_state: 1,
  pooler_output: 2,
  "hidden_states.0": 3,
  "hidden_states.9": 4,
  "hidden_states.10": 5,
};
const SECOND = { text_embeds: 6, last_hidden_state: 7, "hidden_states.0": 8, "hidden_states.1": 9 };

describe("encodePrompt()", () => {
  it("returns the last states of a single encoder", async () => {
    const { states, pooled, textTokens } = await encodePrompt("red", [makeReader("text_encoder", 2, FIRST)]);
    expect([...states.data]).toEqual([1, 1, 1, 1]);
    expect([states.dims, pooled, textTokens]).toEqual([[1, 2, 2], null, 1]);
  });

  it("returns the first output of an encoder without a named state", async () => {
    const { states } = await encodePrompt("red", [makeReader("text_encoder", 1, { output_0: 4 })]);
    expect([...states.data]).toEqual([4, 4]);
  });

  it("concatenates the penultimate states of two encoders for each token, and returns the second's pooled output", async () => {
    const promptEncoders = [makeReader("text_encoder", 2, FIRST), makeReader("text_encoder_2", 1, SECOND)];
    const { states, pooled } = await encodePrompt("red", promptEncoders);
    expect([...states.data]).toEqual([4, 4, 8, 4, 4, 8]);
    expect(states.dims).toEqual([1, 2, 3]);
    expect([...(pooled?.data ?? [])]).toEqual([6]);
  });

  it.each([
    ["returns no text_embeds", [{ ...FIRST }, { last_hidden_state: 7, "hidden_states.0": 8, "hidden_states.1": 9 }]],
    ["does not return the hidden states of its layers", [{ last_hidden_state: 1 }, SECOND]],
  ])("refuses an encoder that %s", async (problem, outputs) => {
    const promptEncoders = outputs.map((each, i) => makeReader(`text_encoder${i}`, 2, each));
    await expect(encodePrompt("red", promptEncoders)).rejects.toMatchObject({
      code: "model_invalid",
      message: expect.stringContaining(problem),
    });
  });

  it("refuses encoders with different numbers of tokens", async () => {
    const promptEncoders = [makeReader("text_encoder", 2, FIRST), makeReader("text_encoder_2", 1, SECOND, 3)];
    await expect(encodePrompt("red", promptEncoders)).rejects.toMatchObject({
      message: "The text encoders must return the same number of tokens, got 2 and 3",
    });
  });
});

describe("zeroEmbeddings()", () => {
  it("returns zeros of the same shape", async () => {
    const promptEncoders = [makeReader("text_encoder", 2, FIRST), makeReader("text_encoder_2", 1, SECOND)];
    const { states, pooled, textTokens } = zeroEmbeddings(await encodePrompt("red", promptEncoders));
    expect([...states.data, ...(pooled?.data ?? [])]).toEqual(Array(7).fill(0));
    expect([states.dims, pooled?.dims, textTokens]).toEqual([[1, 2, 3], [1, 1], 0]);
  });
});
