import {
  ChatWrapper,
  type ChatWrapperGenerateContextStateOptions,
  type ChatWrapperGeneratedContextState,
  type LlamaModel,
  LlamaText,
  SpecialToken,
  SpecialTokensText,
} from "node-llama-cpp";

/**
 * No template: the model continues a text as it is, after the token that begins every text where the model wants one. Names of special
 * tokens in the text are these tokens, so that clients can apply a template of their own.
 */
export class RawTemplate extends ChatWrapper {
  readonly wrapperName = "Raw";
  readonly #begin: readonly SpecialToken[];

  constructor({ tokens }: Pick<LlamaModel, "tokens">) {
    super();
    this.#begin = tokens.shouldPrependBosToken ? [new SpecialToken("BOS")] : [];
  }

  override generateContextState({
    chatHistory,
  }: ChatWrapperGenerateContextStateOptions): ChatWrapperGeneratedContextState {
    const [prompt] = chatHistory;
    if (prompt?.type !== "user") throw new Error("A raw prompt is one text");
    const text = new SpecialTokensText(prompt.text);
    return { contextText: LlamaText([...this.#begin, text]), stopGenerationTriggers: [] };
  }
}
