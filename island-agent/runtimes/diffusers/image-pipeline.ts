import { JobFailure } from "../../../shared/errors.ts";
import { onnxFailure } from "../onnx/onnx-failure.ts";
import { openClipTokenizer, type TokenizerFiles, type PromptTokens } from "./clip-tokenizer.ts";
import { Denoiser } from "./denoiser.ts";
import type { Size } from "./size.ts";
import { latentEncoder, type LatentEncoder } from "./latent-encoder.ts";
import { latentDecoder, type LatentDecoder } from "./latent-decoder.ts";
import {
  numberIn,
  type PipelineFiles,
  readOptionalJson,
  readPipelineJson,
  readPipelineText,
} from "./pipeline-files.ts";
import { type GraphOptions, PipelineGraph, type NumberGrid } from "./pipeline-graph.ts";
import { readSchedulerConfig, type SamplerPlan, SCHEDULER_FILE } from "./samplers/scheduler-config.ts";
import {
  encodePrompt,
  type PromptEmbeddings,
  type PromptEncoder,
  joinStates,
  readStates,
} from "./prompt-embeddings.ts";
import { T5Tokenizer } from "@huggingface/transformers";

/** T5's padding token if a tokenizer's file does not specify one. Source: Raffel et al. 2019, code. */
const PADDING = 0;

/** Number of CLIP's tokens. Without a T5 encoder its states are this many zeros, as in diffusers. */
const CLIP_TOKENS = 77;

/** Default width and height of latents, of Stable Diffusion 1 and of SDXL. */
const DEFAULT_LATENT_SIDE = 64;
const DEFAULT_XL_LATENT_SIDE = 128;
const DEFAULT_GUIDANCE_WIDTH = 256;
const DEFAULT_SD3_TEXT_WIDTH = 4_096;
/** Number of tokens that T5 reads. Source: defaults of diffusers' pipelines. */
const SD3_T5_TOKENS = 256;
const FLUX_T5_TOKENS = 512;

export interface ImagePipeline {
  readonly promptEncoders: readonly PromptEncoder[];
  /** @throws {JobFailure} `model_invalid` */
  readonly encodePrompt: (prompt: string) => Promise<PromptEmbeddings>;
  readonly denoiser: Denoiser;
  readonly decoder: LatentDecoder;
  /** Loads the encoder for the first job with an image. @throws {JobFailure} `invalid_input` if the folder has none. */
  readonly openEncoder: () => Promise<LatentEncoder>;
  readonly plan: SamplerPlan;
  /** Size of the latents if a job does not specify one. */
  readonly defaultLatentSize: Size;
  /** Width of `timestep_cond`; null if guidance is not embedded. */
  readonly guidanceWidth: number | null;
  /** Whether zeros, instead of the embeddings of an empty text, replace a missing negative prompt. */
  readonly isEmptyPromptZero: boolean;
  dispose(): Promise<void>;
}

/** Loads a pipeline. @throws {JobFailure} `model_invalid`, naming the invalid part. */
export async function openPipeline(files: PipelineFiles, options: GraphOptions): Promise<ImagePipeline> {
  const { modelPath } = options;
  const index = await readPipelineJson(modelPath, "model_index.json");
  const plan = readSchedulerConfig(await readPipelineJson(modelPath, SCHEDULER_FILE));
  const tokenizers: PromptEncoder["tokenize"][] = [];
  for (const { part } of files.textEncoders)
    tokenizers.push(
      await openTokenizer(modelPath, part.replace("text_encoder", "tokenizer"), files.textEncoders.length),
    );
  const denoiserConfig = (await readOptionalJson(modelPath, `${files.denoiser.part}/config.json`)) ?? {};
  const decoderConfig = (await readOptionalJson(modelPath, "vae_decoder/config.json")) ?? {};

  const graphs: PipelineGraph[] = [];
  const dispose = async (): Promise<void> => {
    for (const graph of graphs) await graph.release();
  };
  const open = async ({ part, path }: PipelineFiles["denoiser"]): Promise<PipelineGraph> => {
    const graph = await PipelineGraph.open(part, path, options);
    graphs.push(graph);
    return graph;
  };
  try {
    const promptEncoders: PromptEncoder[] = [];
    for (const [i, file] of files.textEncoders.entries()) {
      const tokenize = tokenizers[i];
      if (tokenize !== undefined) promptEncoders.push({ encoder: await open(file), tokenize });
    }
    const decoder = latentDecoder(await open(files.decoder), decoderConfig, promptEncoders.length > 1);
    const denoiser = new Denoiser(await open(files.denoiser), decoder.channels);
    const textWidth = numberIn(denoiserConfig, "joint_attention_dim") ?? DEFAULT_SD3_TEXT_WIDTH;
    const latentSize =
      numberIn(denoiserConfig, "sample_size") ??
      (promptEncoders.length > 1 ? DEFAULT_XL_LATENT_SIDE : DEFAULT_LATENT_SIDE);
    return {
      promptEncoders,
      encodePrompt: (prompt) => {
        if (denoiser.isPacked) return encodeForFlux(prompt, promptEncoders);
        if (denoiser.hasPooledText) return encodeForSd3(prompt, promptEncoders, denoiser.textWidth ?? textWidth);
        return encodePrompt(prompt, promptEncoders);
      },
      denoiser,
      decoder,
      openEncoder: once(async () => {
        if (files.encoder === null)
          throw new JobFailure(
            "invalid_input",
            "image: this model accepts only a prompt, because its folder lacks a vae_encoder",
          );
        return latentEncoder(await open(files.encoder), decoder.channels, decoder.scale);
      }),
      plan,
      defaultLatentSize: denoiser.fixedLatentSize ?? { width: latentSize, height: latentSize },
      guidanceWidth: denoiser.guidanceWidth(numberIn(denoiserConfig, "time_cond_proj_dim") ?? DEFAULT_GUIDANCE_WIDTH),
      isEmptyPromptZero: index["force_zeros_for_empty_prompt"] === true,
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Memoizes `work`; a failed call is not cached. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}

/** @param encoders number of text encoders: Stable Diffusion 3 has three, and reads fewer tokens than Flux. */
async function openTokenizer(modelPath: string, part: string, encoders: number): Promise<PromptEncoder["tokenize"]> {
  const config = await readPipelineJson(modelPath, `${part}/tokenizer_config.json`);
  const json = await readOptionalJson(modelPath, `${part}/tokenizer.json`);
  if (String(config["tokenizer_class"]).startsWith("T5")) {
    if (json === null) throw new JobFailure("model_invalid", `The model's folder lacks ${part}/tokenizer.json`);
    try {
      return openT5Tokenizer(json, config, encoders > 2 ? SD3_T5_TOKENS : FLUX_T5_TOKENS);
    } catch (error) {
      throw onnxFailure("model_invalid", `${part} is not a T5 tokenizer`, error, modelPath);
    }
  }
  const own = async (): Promise<Pick<TokenizerFiles, "vocab" | "merges">> => ({
    vocab: (await readPipelineJson(modelPath, `${part}/vocab.json`)) as Record<string, number>,
    merges: await readPipelineText(modelPath, `${part}/merges.txt`),
  });
  const { vocab, merges } = json === null ? await own() : { vocab: {}, merges: "" };
  try {
    return openClipTokenizer({ config, json, vocab, merges });
  } catch (error) {
    throw onnxFailure("model_invalid", `${part} is not a CLIP tokenizer`, error, modelPath);
  }
}

/**
 * Encodes a prompt for Stable Diffusion 3: the penultimate states of both CLIP encoders, concatenated and padded with
 * zeros to T5's width, then T5's states, and the pooled states of both. Source: Esser et al. 2024, §4. @param width of
 * the transformer's text input.
 */
async function encodeForSd3(
  prompt: string,
  encoders: readonly PromptEncoder[],
  width: number,
): Promise<PromptEmbeddings> {
  const [first, second, third] = encoders;
  if (first === undefined || second === undefined)
    throw new JobFailure("model_invalid", "The model's folder lacks text_encoder_2/model.onnx");
  const one = await readStates(prompt, first, "penultimate");
  const two = await readStates(prompt, second, "penultimate");
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
    throw new JobFailure("model_invalid", `text_encoder_3 must return states of width ${width}`);
  return { states, pooled, textTokens: one.textTokens };
}

/** Encodes a prompt for Flux: the states of T5, and the pooled state of CLIP. Source: Black Forest Labs 2024, code. */
async function encodeForFlux(prompt: string, encoders: readonly PromptEncoder[]): Promise<PromptEmbeddings> {
  const [clip, t5] = encoders;
  if (clip === undefined || t5 === undefined)
    throw new JobFailure("model_invalid", "The model's folder lacks text_encoder_2/model.onnx");
  const { pooled, textTokens } = await readStates(prompt, clip, "last");
  if (pooled === null)
    throw new JobFailure("model_invalid", "text_encoder returns no pooler_output, which the transformer needs");
  const { states } = await readStates(prompt, t5, "last");
  return { states, pooled, textTokens };
}

/** Pads each token's states with zeros. */
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

/**
 * Returns a function that tokenizes prompts for T5: text, end, padding.
 * @param json `tokenizer.json`. @param length of the result. @throws {Error} when the files are not a tokenizer's.
 */
function openT5Tokenizer(
  json: object,
  config: Readonly<Record<string, unknown>>,
  length: number,
): (prompt: string) => PromptTokens {
  const tokenizer = new T5Tokenizer(json, config);
  const { eos_token_id: end, pad_token_id: padding } = tokenizer;
  if (typeof end !== "number") throw new Error("it has no end token");
  return (prompt) => {
    const text = tokenizer.encode(prompt, { add_special_tokens: false }).slice(0, length - 1);
    const ids = [...text, end];
    while (ids.length < length) ids.push(padding ?? PADDING);
    return { ids, textTokens: text.length };
  };
}
