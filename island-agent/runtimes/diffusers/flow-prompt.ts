import { JobFailure } from "../../../shared/errors.ts";
import type { NumberGrid } from "./pipeline-graph.ts";
import { joinStates, type PromptEmbeddings, type PromptEncoder, readStates } from "./prompt-embeddings.ts";

/** CLIP's tokens: without a T5 encoder its states are as many zeros, as in diffusers. */
const CLIP_TOKENS = 77;

/**
 * A prompt for Stable Diffusion 3: the penultimate states of both CLIP encoders side by side, filled up with zeros to T5's width, then
 * T5's states; the pooled states of both. Source: Esser et al. 2024, §4. @param width of the transformer's text input.
 */
export async function encodeForSd3(
  prompt: string,
  encoders: readonly PromptEncoder[],
  width: number,
): Promise<PromptEmbeddings> {
  const [first, second, third] = encoders;
  if (first === undefined || second === undefined)
    throw new JobFailure("model_invalid", "The model's folder lacks text_encoder_2/model.onnx");
  const [one, two] = [await readStates(prompt, first, "penultimate"), await readStates(prompt, second, "penultimate")];
  if (one.pooled === null || two.pooled === null)
    throw new JobFailure("model_invalid", "A text encoder returns no text_embeds, which the transformer needs");
  const texts = widen(joinStates(one.states, two.states), width);
  const zeros = { data: new Float32Array(CLIP_TOKENS * width), dims: [1, CLIP_TOKENS, width] };
  const more = third === undefined ? zeros : (await readStates(prompt, third, "last")).states;
  const pooled = {
    data: concat(one.pooled.data, two.pooled.data),
    dims: [1, one.pooled.data.length + two.pooled.data.length],
  };
  const tokens = (texts.dims[1] ?? 0) + (more.dims[1] ?? 0);
  const states = { data: concat(texts.data, more.data), dims: [1, tokens, width] };
  if (states.data.length !== tokens * width)
    throw new JobFailure("model_invalid", `text_encoder_3 returns states of another width than ${width}`);
  return { states, pooled, textTokens: one.textTokens };
}

/** A prompt for Flux: the states of T5, and the pooled state of CLIP. Source: Black Forest Labs 2024, code. */
export async function encodeForFlux(prompt: string, encoders: readonly PromptEncoder[]): Promise<PromptEmbeddings> {
  const [clip, t5] = encoders;
  if (clip === undefined || t5 === undefined)
    throw new JobFailure("model_invalid", "The model's folder lacks text_encoder_2/model.onnx");
  const { pooled, textTokens } = await readStates(prompt, clip, "last");
  if (pooled === null)
    throw new JobFailure("model_invalid", "text_encoder returns no pooler_output, which the transformer needs");
  const { states } = await readStates(prompt, t5, "last");
  return { states, pooled, textTokens };
}

/** Each token's states with zeros after them. */
function widen({ data, dims: [, tokens = 0, from = 0] }: NumberGrid, width: number): NumberGrid {
  if (from > width) throw new JobFailure("model_invalid", `The text encoders return states wider than ${width}`);
  const wide = new Float32Array(tokens * width);
  for (let token = 0; token < tokens; token += 1) wide.set(data.slice(token * from, (token + 1) * from), token * width);
  return { data: wide, dims: [1, tokens, width] };
}

function concat(left: NumberGrid["data"], right: NumberGrid["data"]): Float32Array {
  const joined = new Float32Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}
