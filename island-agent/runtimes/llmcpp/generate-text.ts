import {
  type ChatWrapper,
  type ChatWrapperGeneratedContextState,
  type LlamaContextSequence,
  type LlamaModel,
  type LlamaText,
  type SequenceEvaluateOptions,
  SpecialToken,
  SpecialTokensText,
  type Token,
} from "node-llama-cpp";
import type { FinishReason } from "../../../shared/output.ts";
import type { Completion } from "./completion.ts";
import type { Sampling } from "./sampling.ts";
import type { TokenProbabilities } from "./token-probabilities.ts";

/** Output of the detokenizer for the first bytes of a character. */
const INCOMPLETE_CHARACTER = "\uFFFD";
/**
 * Number of preceding tokens that may change a token's text, for example by a space between words. Prompt tokens count,
 * because the prompt may end with the start of the completion. The library uses the same number.
 */
const PRECEDING_TOKENS = 3;

/** Tokens and texts that end a completion, besides the model's end tokens. */
interface Endings {
  readonly tokens: ReadonlySet<Token>;
  readonly texts: readonly string[];
}

/**
 * Returns the endings of completions to a rendered prompt, if `generateText` supports them. Returns null if LlamaChat
 * is required: for reasoning, for templates that act on the start of a completion, for endings of several tokens, and
 * for models whose context needs checkpoints.
 */
export function endingsOf(
  { settings }: ChatWrapper,
  state: ChatWrapperGeneratedContextState,
  sequence: LlamaContextSequence,
): Endings | null {
  const hasSegments = Object.values(settings.segments ?? {}).some((segment) => segment !== undefined);
  const { prefixTriggers, noPrefixTrigger, rerender, functionCall } = state;
  const isLed = prefixTriggers !== undefined || noPrefixTrigger !== undefined || rerender !== undefined;
  if (hasSegments || isLed || functionCall?.initiallyEngaged === true || sequence.needsCheckpoints) return null;
  const [tokens, texts] = [new Set<Token>(), new Set<string>()];
  for (const trigger of state.stopGenerationTriggers) {
    const [first, ...rest] = partsOf(trigger, sequence.model);
    if (typeof first === "string") {
      if (rest.some((part) => typeof part !== "string")) return null;
      texts.add([first, ...rest].join(""));
    } else if (first !== undefined && !sequence.model.isEogToken(first)) {
      if (rest.length > 0) return null;
      tokens.add(first);
    }
  }
  return { tokens, texts: [...texts] };
}

/** Returns the tokens of which each ends a completion, the one that the template or else the model names first. */
export function endTokensOf({ stopGenerationTriggers }: ChatWrapperGeneratedContextState, model: LlamaModel): Token[] {
  const named = stopGenerationTriggers.flatMap((trigger) => {
    const [first, ...rest] = partsOf(trigger, model);
    return typeof first === "number" && rest.length === 0 ? [first] : [];
  });
  const { eot, eos } = model.tokens;
  return [...new Set([...named, ...[eot, eos].filter((token) => token !== null)])];
}

function partsOf(trigger: LlamaText, { tokenizer }: LlamaModel): (string | Token)[] {
  return trigger.values
    .flatMap((value) => {
      if (value instanceof SpecialToken) return value.tokenize(tokenizer);
      return value instanceof SpecialTokensText ? value.tokenizeSpecialTokensOnly(tokenizer) : [value];
    })
    .filter((part) => part !== "");
}

interface Generation {
  readonly sequence: LlamaContextSequence;
  readonly prompt: readonly Token[];
  readonly endTokens: Endings["tokens"];
  readonly sampling: Sampling;
  readonly maxTokens: number;
  readonly probabilities?: Pick<TokenProbabilities, "keep"> | null;
}

/**
 * Generates a completion token by token, like LlamaChat for plain text, with less work per token. Text is delivered in
 * whole characters. Prompt tokens that are in the sequence's cache are not evaluated again.
 */
export async function generateText(
  { sequence, prompt, endTokens, sampling, maxTokens, probabilities }: Generation,
  completion: Pick<Completion, "isOver" | "take">,
): Promise<FinishReason> {
  const { model } = sequence;
  const written: Token[] = [];
  const tokens = await unreadOf(sequence, prompt);
  if (completion.isOver) return "stop";
  let before = prompt.slice(-PRECEDING_TOKENS);
  let character: Token[] = [];
  let generated = 0;
  for await (const token of sequence.evaluate(tokens, evaluationOf(sampling, written))) {
    if (endTokens.has(token)) return "stop";
    generated += 1;
    character.push(token);
    const text = model.detokenize(character, false, before);
    if (!text.endsWith(INCOMPLETE_CHARACTER)) {
      written.push(...character);
      before = [...before, ...character].slice(-PRECEDING_TOKENS);
      probabilities?.keep(character);
      completion.take(text, character.length);
      character = [];
    }
    if (completion.isOver) return "stop";
    if (generated >= maxTokens) return "length";
  }
  return "stop";
}

/** @param written tokens of the completion so far. */
function evaluationOf({ repeatPenalty, ...options }: Sampling, written: Token[]): SequenceEvaluateOptions {
  if (repeatPenalty === false) return options;
  // LlamaChat reads penalizeNewLine. A sequence, used here, always penalises the tokens that it is given.
  const { lastTokens: maxPunishTokens, punishTokensFilter, penalizeNewLine: _, ...penalties } = repeatPenalty;
  const punishTokens = (): Token[] => punishTokensFilter(written.slice(-maxPunishTokens));
  return { ...options, repeatPenalty: { ...penalties, punishTokens, maxPunishTokens } };
}

/**
 * Removes tokens that are not part of the prompt from the sequence. Returns the tokens left to evaluate, which include
 * at least the last one for its result.
 */
async function unreadOf(sequence: LlamaContextSequence, prompt: readonly Token[]): Promise<Token[]> {
  await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
  return prompt.slice(sequence.nextTokenIndex);
}
