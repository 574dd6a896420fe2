import { JobFailure } from "../../../shared/errors.ts";
import { onnxFailure } from "../onnx/onnx-failure.ts";
import { openClipTokenizer, type TokenizerFiles } from "./clip-tokenizer.ts";
import { Denoiser } from "./denoiser.ts";
import type { Size } from "./size.ts";
import { LatentEncoder } from "./latent-encoder.ts";
import { LatentDecoder } from "./latent-decoder.ts";
import {
  numberIn,
  type PipelineFiles,
  readOptionalJson,
  readPipelineJson,
  readPipelineText,
} from "./pipeline-files.ts";
import { type GraphOptions, PipelineGraph } from "./pipeline-graph.ts";
import { readSchedulerConfig, type SamplerPlan, SCHEDULER_FILE } from "./samplers/scheduler-config.ts";
import { encodeForFlux, encodeForSd3 } from "./flow-prompt.ts";
import { encodePrompt, type PromptEmbeddings, type PromptEncoder } from "./prompt-embeddings.ts";
import { openT5Tokenizer } from "./t5-tokenizer.ts";

/** Default width and height of latents, of Stable Diffusion 1 and of SDXL. */
const DEFAULT_LATENT_SIDE = 64;
const DEFAULT_XL_LATENT_SIDE = 128;
const DEFAULT_GUIDANCE_WIDTH = 256;
const DEFAULT_SD3_TEXT_WIDTH = 4_096;
/** Tokens that T5 reads. Source: defaults of diffusers' pipelines. */
const SD3_T5_TOKENS = 256;
const FLUX_T5_TOKENS = 512;

/** A loaded text-to-image pipeline. */
export interface ImagePipeline {
  readonly promptEncoders: readonly PromptEncoder[];
  /** @throws {JobFailure} `model_invalid` */
  readonly encodePrompt: (prompt: string) => Promise<PromptEmbeddings>;
  readonly denoiser: Denoiser;
  readonly decoder: LatentDecoder;
  /** The encoder, loaded by the first job with an image. @throws {JobFailure} `invalid_input` where the folder has none. */
  readonly openEncoder: () => Promise<LatentEncoder>;
  readonly plan: SamplerPlan;
  /** Size of the latents when a job names no size. */
  readonly defaultLatentSize: Size;
  /** Width of `timestep_cond`; null if guidance is not embedded. */
  readonly guidanceWidth: number | null;
  /** Without a negative prompt its embeddings are zeros, not those of an empty text. */
  readonly isEmptyPromptZero: boolean;
  dispose(): Promise<void>;
}

/** Loads a pipeline. @throws {JobFailure} `model_invalid` naming the part at fault. */
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
    const decoder = new LatentDecoder(await open(files.decoder), decoderConfig, promptEncoders.length > 1);
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
            "image: this model draws from a prompt only; its folder has no vae_encoder",
          );
        return new LatentEncoder(await open(files.encoder), decoder.channels, decoder.scale);
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

/** Calls `work` again only after it failed. */
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

/** @param encoders of the pipeline: Stable Diffusion 3 has three, and reads fewer tokens than Flux. */
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
