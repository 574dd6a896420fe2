import type { PreTrainedModel } from "@huggingface/transformers";
import { describe, expect, it } from "vitest";
import { TokenCounter } from "../../../../../island-agent/runtimes/onnx/tasks/token-counter.ts";

const END = 2;

function makeModel(config: object, generation: object | null = {}): PreTrainedModel {
  return { config, generation_config: generation } as unknown as PreTrainedModel;
}

/** Makes the calls that `generate()` makes for one text. */
function write(count: TokenCounter, ...tokens: number[]): TokenCounter {
  count.put([[0n, 5n]]);
  for (const token of tokens) count.put([[BigInt(token)]]);
  count.end();
  return count;
}

describe("TokenCounter", () => {
  const model = makeModel({ eos_token_id: END });

  it("counts generated tokens, without the prompt and the end token", () => {
    expect(write(new TokenCounter(model, 10), 7, 8, END)).toMatchObject({ tokens: 2, finishReason: "stop" });
  });

  it("reports a text without an end token as cut off", () => {
    expect(write(new TokenCounter(model, 2), 7, 8)).toMatchObject({ tokens: 2, finishReason: "length" });
  });

  it('reports "stop" for an end token at the limit, unless the model forces it there', () => {
    const forced = makeModel({ eos_token_id: END, forced_eos_token_id: END });
    expect(write(new TokenCounter(model, 2), 7, END).finishReason).toBe("stop");
    expect(write(new TokenCounter(forced, 2), 7, END).finishReason).toBe("length");
    expect(write(new TokenCounter(forced, 3), 7, END).finishReason).toBe("stop");
  });

  it("accepts several end tokens, and prefers those of the generation config over the model's", () => {
    const several = makeModel({ eos_token_id: 9 }, { eos_token_id: [END, 3] });
    expect(write(new TokenCounter(several, 5), 9, 3)).toMatchObject({ tokens: 1, finishReason: "stop" });
  });

  it('sums the tokens of several windows, and reports "length" if one was cut off', () => {
    const count = write(new TokenCounter(makeModel({ eos_token_id: END }, null), 2), 7, 8);
    expect(write(count, 7, END)).toMatchObject({ tokens: 3, finishReason: "length" });
  });
});
