import { JobFailure } from "../../../shared/errors.ts";
import type { PromptTokens } from "./clip-tokenizer.ts";
import type { NumberGrid, PipelineGraph } from "./pipeline-graph.ts";

/** A text encoder with the tokenizer that was trained with it. */
export interface PromptReader {
  readonly encoder: PipelineGraph;
  readonly tokenize: (prompt: string) => PromptTokens;
}

/** What a denoiser is told of a prompt. */
export interface Conditioning {
  /** [1, tokens, width] */
  readonly states: NumberGrid;
  /** [1, width]; null where the pipeline has one text encoder only. */
  readonly pooled: NumberGrid | null;
  /** Tokens of the text that were read. */
  readonly textTokens: number;
}

/**
 * Reads a prompt with one text encoder (Rombach et al. 2022: its last states), or with SDXL's two (Podell et al. 2023, §2.1: the
 * states before the last layer of both, side by side, and the pooled output of the second).
 * @throws {JobFailure} `model_invalid` when an encoder gives something else.
 */
export async function conditionOn(prompt: string, readers: readonly PromptReader[]): Promise<Conditioning> {
  const read: { states: NumberGrid; pooled: NumberGrid | null; textTokens: number }[] = [];
  for (const { encoder, tokenize } of readers) {
    const { ids, textTokens } = tokenize(prompt);
    const outputs = await encoder.run({ input_ids: { data: ids, dims: [1, ids.length] } });
    const name = readers.length === 1 ? "last_hidden_state" : stateBeforeLast(encoder);
    const states = outputs.get(name) ?? outputs.get(encoder.outputNames[0] ?? "");
    if (states?.dims.length !== 3)
      throw new JobFailure("model_invalid", `${encoder.part} gives no states of the tokens`);
    read.push({ states, pooled: outputs.get("text_embeds") ?? null, textTokens });
  }
  const [first, ...others] = read;
  if (first === undefined) throw new Error("a pipeline has a text encoder");
  const pooled = others.at(-1)?.pooled ?? null;
  if (others.length > 0 && pooled === null)
    throw new JobFailure("model_invalid", "text_encoder_2 gives no text_embeds, which its denoiser needs");
  const states = others.reduce((joined, next) => joinStates(joined, next.states), first.states);
  return { states, pooled, textTokens: first.textTokens };
}

/** What some pipelines take for no prompt at all (`force_zeros_for_empty_prompt`). */
export function conditionOnNothing({ states, pooled }: Conditioning): Conditioning {
  const zeros = ({ data, dims }: NumberGrid): NumberGrid => ({ data: new Float32Array(data.length), dims });
  return { states: zeros(states), pooled: pooled && zeros(pooled), textTokens: 0 };
}

/** Exporters name the states of all layers "hidden_states.0" (the embeddings) and up. */
function stateBeforeLast(encoder: PipelineGraph): string {
  const layers = encoder.outputNames
    .filter((name) => /^hidden_states\.\d+$/.test(name))
    .map((name) => Number(name.slice("hidden_states.".length)))
    .sort((a, b) => b - a);
  if (layers[1] === undefined)
    throw new JobFailure("model_invalid", `${encoder.part} does not give the states of its layers`);
  return `hidden_states.${layers[1]}`;
}

/** The states of each token, those of `right` after those of `left`. */
function joinStates(left: NumberGrid, right: NumberGrid): NumberGrid {
  const [, tokens = 0, leftWidth = 0] = left.dims;
  const [, rightTokens, rightWidth = 0] = right.dims;
  if (tokens !== rightTokens)
    throw new JobFailure("model_invalid", `The text encoders read ${tokens} and ${rightTokens} tokens`);
  const width = leftWidth + rightWidth;
  const data = new Float32Array(tokens * width);
  for (let token = 0; token < tokens; token++) {
    data.set(left.data.slice(token * leftWidth, (token + 1) * leftWidth), token * width);
    data.set(right.data.slice(token * rightWidth, (token + 1) * rightWidth), token * width + leftWidth);
  }
  return { data, dims: [1, tokens, width] };
}
