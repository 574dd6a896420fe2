import {
  ChatWrapper,
  type ChatWrapperGenerateContextStateOptions,
  type ChatWrapperGeneratedContextState,
  LlamaText,
} from "node-llama-cpp";

/**
 * Template of the model for one completion, with two differences. Templates drop white space at the start of a
 * completion, which would join two words when it is resumed; here it is kept. And templates trim or close finished
 * completions; here the text so far is appended to the prompt unchanged.
 */
export class ResumableTemplate extends ChatWrapper {
  readonly wrapperName: string;
  override readonly settings: ChatWrapper["settings"];
  readonly #template: ChatWrapper;
  readonly #soFar: string;
  /** Most recent rendered state, because LlamaChat renders the history again that its caller has just rendered. */
  #last: { readonly history: string; readonly state: ChatWrapperGeneratedContextState } | undefined;

  constructor(template: ChatWrapper, soFar: string) {
    super();
    this.wrapperName = template.wrapperName;
    this.settings = template.settings;
    this.#template = template;
    this.#soFar = soFar;
  }

  override generateContextState(options: ChatWrapperGenerateContextStateOptions): ChatWrapperGeneratedContextState {
    const history = JSON.stringify(options.chatHistory);
    if (this.#last?.history !== history) this.#last = { history, state: this.#render(options) };
    return this.#last.state;
  }

  #render(options: ChatWrapperGenerateContextStateOptions): ChatWrapperGeneratedContextState {
    if (this.#soFar === "" || !this.#isAtStart(options)) {
      return verbatim(this.#template.generateContextState(options));
    }
    const chatHistory = [...options.chatHistory.slice(0, -1), { type: "model" as const, response: [] }];
    const state = this.#template.generateContextState({ ...options, chatHistory });
    state.contextText = LlamaText([state.contextText, this.#soFar]);
    return verbatim(state);
  }

  /**
   * Returns true while the history ends with exactly the text so far. Returns false for templates with reasoning,
   * because their prompt may open a reasoning section that does not contain the text so far.
   */
  #isAtStart({ chatHistory }: ChatWrapperGenerateContextStateOptions): boolean {
    const last = chatHistory.at(-1);
    if (last?.type !== "model" || this.settings.segments?.thought !== undefined) return false;
    return last.response.length === 1 && last.response[0] === this.#soFar;
  }
}

function verbatim(state: ChatWrapperGeneratedContextState): ChatWrapperGeneratedContextState {
  state.ignoreStartText = [];
  return state;
}
