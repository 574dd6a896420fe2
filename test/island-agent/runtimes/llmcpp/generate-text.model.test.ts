import {
  type ChatWrapper,
  getLlama,
  type Llama,
  type LlamaContextSequence,
  LlamaLogLevel,
  type LlamaModel,
  LlamaText,
  resolveChatWrapper,
  SpecialToken,
} from "node-llama-cpp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Completion } from "../../../../island-agent/runtimes/llmcpp/completion.ts";
import { BatchLoop } from "../../../../island-agent/runtimes/llmcpp/batch-loop.ts";
import { historyOf } from "../../../../island-agent/runtimes/llmcpp/chat-history.ts";
import { endingsOf, generateText } from "../../../../island-agent/runtimes/llmcpp/generate-text.ts";
import { generateWithChat } from "../../../../island-agent/runtimes/llmcpp/generate-with-chat.ts";
import { ResumableTemplate } from "../../../../island-agent/runtimes/llmcpp/resumable-template.ts";
import { samplingOf } from "../../../../island-agent/runtimes/llmcpp/sampling.ts";
import { chatRequestOf, type ChatInput } from "../../../../shared/chat-input.ts";
import { systemClock } from "../../../../shared/clock.ts";
import type { FinishReason, OutputItem } from "../../../../shared/output.ts";
import { NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

interface Generated {
  readonly finishReason: FinishReason;
  readonly items: readonly OutputItem[];
  readonly tokens: number;
  /** Tokens in the sequence's cache at the end. */
  readonly cached: readonly unknown[];
}

describe("generateText()", () => {
  let llama: Llama;
  let model: LlamaModel;
  let template: ChatWrapper;
  let sequences: readonly [LlamaContextSequence, LlamaContextSequence];
  /** Tokens of each evaluation. */
  const evaluations: number[] = [];

  beforeAll(async () => {
    llama = await getLlama({
      gpu: false,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      maxThreads: 1,
      logLevel: LlamaLogLevel.error,
    });
    model = await llama.loadModel({ modelPath: TINY_ISLANDER });
    const context = await model.createContext({ contextSize: 512, sequences: 2, threads: 1 });
    const loop = BatchLoop.over(context, systemClock);
    for (const id of [0, 1]) loop.onTokens.set(id, (tokens) => evaluations.push(tokens));
    sequences = [context.getSequence(), context.getSequence()];
    template = new ResumableTemplate(resolveChatWrapper(model), "");
  });
  afterAll(() => llama.dispose());

  async function generate(input: ChatInput, sequence: LlamaContextSequence, isWithChat = false): Promise<Generated> {
    const request = chatRequestOf(input);
    const history = historyOf(request.messages);
    const state = template.generateContextState({ chatHistory: history });
    const endings = endingsOf(template, state, sequence);
    if (endings === null) throw new Error("LlamaChat is needed");
    const items: OutputItem[] = [];
    const completion = new Completion([...request.stop, ...endings.texts], (item) => items.push(item), NEVER);
    const [sampling, { maxTokens }] = [samplingOf(request, model, [], 1), request];
    const prompt = state.contextText.tokenize(model.tokenizer);
    const finishReason = await completion.end(
      isWithChat
        ? generateWithChat({ sequence, template, history, options: { ...sampling, maxTokens } }, completion, NEVER)
        : generateText({ sequence, prompt, endTokens: endings.tokens, sampling, maxTokens }, completion),
    );
    return { finishReason, items, tokens: completion.tokens, cached: [...sequence.contextTokens] };
  }

  it.each<ChatInput>([
    { prompt: "Count from 3 to 9.", temperature: 0 },
    { prompt: "Count from 3 to 9.", temperature: 0, max_tokens: 4 },
    { prompt: "Tell me a story.", temperature: 0, max_tokens: 40, frequency_penalty: 1 },
    { prompt: "Tell me a story.", temperature: 1, seed: 7, max_tokens: 40, stop: ["an"] },
    { prompt: "Wie heißt 😀?", temperature: 2, seed: 3, top_p: 0.5, max_tokens: 40, presence_penalty: 1 },
    { prompt: "Tell me a story.", temperature: 1, seed: 5, top_k: 3, min_p: 0.1, max_tokens: 40, repeat_penalty: 1.3 },
    { prompt: "Tell me a story.", temperature: 0, max_tokens: 20, logit_bias: { "300": -100, "301": 5 } },
  ])("returns the same text as LlamaChat: %j", async (input) => {
    expect(await generate(input, sequences[0])).toEqual(await generate(input, sequences[1], true));
  });

  it("evaluates once per token, and only the new prompt tokens of a conversation's next turn", async () => {
    await sequences[0].clearHistory();
    const question = { role: "user" as const, content: "Count from 3 to 9." };
    const input = { temperature: 0, messages: [question] };
    evaluations.length = 0;
    const first = await generate(input, sequences[0]);
    // The prompt is evaluated, and then each token of the completion. The end token is sampled from the last of them.
    expect(evaluations).toEqual([13, ...Array.from({ length: first.tokens }, () => 1)]);
    const completion = first.items.map((item) => (item.type === "token" ? item.content : "")).join("");
    evaluations.length = 0;
    const next = { role: "user" as const, content: "Count from 1 to 3." };
    await generate({ ...input, messages: [question, { role: "assistant", content: completion }, next] }, sequences[0]);
    // The end of the completion is evaluated, and the new question with its template.
    expect(evaluations[0]).toBe(14);
    expect(new Set(evaluations.slice(1))).toEqual(new Set([1]));
  });

  it("leaves models with reasoning, special beginnings or several end tokens to LlamaChat", () => {
    const [sequence] = sequences;
    const state = template.generateContextState({ chatHistory: historyOf([{ role: "user", content: "hi" }]) });
    const endings = (change: object, of: ChatWrapper = template): ReturnType<typeof endingsOf> =>
      endingsOf(of, { ...state, ...change }, sequence);
    expect(endings({})).not.toBeNull();
    expect(endings({ stopGenerationTriggers: [LlamaText("###")] })).toEqual({ tokens: new Set(), texts: ["###"] });
    expect(endings({ stopGenerationTriggers: [LlamaText("#", new SpecialToken("BOS"))] })).toBeNull();
    expect(endings({ noPrefixTrigger: { type: "response", inject: LlamaText("") } })).toBeNull();
    const settings = { ...template.settings, segments: { thought: { prefix: "<think>" } } };
    expect(endings({}, { wrapperName: "thinks", settings } as unknown as ChatWrapper)).toBeNull();
  });
});
