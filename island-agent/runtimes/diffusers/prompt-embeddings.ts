import { JobFailure } from "../../../shared/errors.ts";
import type { PromptTokens } from "./clip-tokenizer.ts";
import type { NumberGrid, PipelineGraph } from "./pipeline-graph.ts";

export interface PromptEncoder {
  readonly encoder: PipelineGraph;
  readonly tokenize: (prompt: string) => PromptTokens;
}

/** Embeddings of a prompt, the denoiser's input. */
export interface PromptEmbeddings {
  /** [1, tokens, width] */
  readonly states: NumberGrid;
  /** [1, width]; null for a pipeline with one text encoder. */
  readonly pooled: NumberGrid | null;
  readonly textTokens: number;
}

/**
 * Encodes a prompt with one text encoder (Rombach et al. 2022: the last hidden states) or with SDXL's two (Podell et
 * al. 2023, §2.1: both encoders' penultimate hidden states, concatenated, and the second one's pooled output).
 * @throws {JobFailure} `model_invalid` when an encoder has other outputs.
 */
export async function encodePrompt(
  prompt: string,
  promptEncoders: readonly PromptEncoder[],
): Promise<PromptEmbeddings> {
  const read: EncodedText[] = [];
  for (const each of promptEncoders)
    read.push(await readStates(prompt, each, promptEncoders.length === 1 ? "last" : "penultimate"));
  const [first, ...others] = read;
  if (first === undefined) throw new Error("a pipeline needs a text encoder");
  const pooled = others.at(-1)?.projected ?? null;
  if (others.length > 0 && pooled === null)
    throw new JobFailure("model_invalid", "text_encoder_2 returns no text_embeds, which the denoiser needs");
  const states = others.reduce((joined, next) => joinStates(joined, next.states), first.states);
  return { states, pooled, textTokens: first.textTokens };
}

interface EncodedText {
  /** [1, tokens, width] */
  readonly states: NumberGrid;
  /** Pooled state, either projected (`text_embeds`) or not (`pooler_output`); null if the encoder returns neither. */
  readonly pooled: NumberGrid | null;
  readonly projected: NumberGrid | null;
  readonly textTokens: number;
}

/** Encodes a prompt with one encoder. @throws {JobFailure} `model_invalid` when it has other outputs. */
export async function readStates(
  prompt: string,
  { encoder, tokenize }: PromptEncoder,
  layer: "last" | "penultimate",
): Promise<EncodedText> {
  const { ids, textTokens } = tokenize(prompt);
  const dims = [1, ids.length];
  const attention_mask = { data: new Float32Array(ids.length).fill(1), dims };
  const outputs = await encoder.run({ input_ids: { data: ids, dims }, attention_mask });
  const name = layer === "last" ? "last_hidden_state" : penultimateState(encoder);
  const states = outputs.get(name) ?? outputs.get(encoder.outputNames[0] ?? "");
  if (states?.dims.length !== 3)
    throw new JobFailure("model_invalid", `${encoder.part} returns no hidden states of the tokens`);
  const projected = outputs.get("text_embeds") ?? null;
  return { states, projected, pooled: projected ?? outputs.get("pooler_output") ?? null, textTokens };
}

/** Returns the embeddings of an empty prompt in pipelines with `force_zeros_for_empty_prompt`. */
export function zeroEmbeddings({ states, pooled }: PromptEmbeddings): PromptEmbeddings {
  const zeros = ({ data, dims }: NumberGrid): NumberGrid => ({ data: new Float32Array(data.length), dims });
  return { states: zeros(states), pooled: pooled && zeros(pooled), textTokens: 0 };
}

/**
 * Returns the name of the penultimate layer's output. "hidden_states.0" are the embeddings; higher numbers are the
 * layers.
 */
function penultimateState(encoder: PipelineGraph): string {
  const layers = encoder.outputNames
    .filter((name) => /^hidden_states\.\d+$/.test(name))
    .map((name) => Number(name.slice("hidden_states.".length)))
    .sort((a, b) => b - a);
  if (layers[1] === undefined)
    throw new JobFailure("model_invalid", `${encoder.part} does not return the hidden states of its layers`);
  return `hidden_states.${layers[1]}`;
}

export function joinStates(left: NumberGrid, right: NumberGrid): NumberGrid {
  const [, tokens = 0, leftWidth = 0] = left.dims;
  const [, rightTokens, rightWidth = 0] = right.dims;
  if (tokens !== rightTokens)
    throw new JobFailure(
      "model_invalid",
      `The text encoders must return the same number of tokens, got ${tokens} and ${rightTokens}`,
    );
  const width = leftWidth + rightWidth;
  const data = new Float32Array(tokens * width);
  for (let token = 0; token < tokens; token++) {
    data.set(left.data.slice(token * leftWidth, (token + 1) * leftWidth), token * width);
    data.set(right.data.slice(token * rightWidth, (token + 1) * rightWidth), token * width + leftWidth);
  }
  return { data, dims: [1, tokens, width] };
}
