import { JobFailure } from "../../../shared/errors.ts";
import type { NumberGrid, PipelineGraph } from "./pipeline-graph.ts";
import { imagePositions, packLatents, PATCH_SIDE, textPositions, unpackLatents } from "./packed-latents.ts";
import type { Size } from "./size.ts";
import type { PromptEmbeddings } from "./prompt-embeddings.ts";

/** Number of training timesteps of Flux. Its transformer takes the timestep as a fraction of this number. */
const FLUX_TIMESTEPS = 1_000;

/** Inputs that are the same in all steps of an image. */
export interface DenoiserContext {
  readonly latentSize: Size;
  /** Size of the image, an input of SDXL. */
  readonly imageSize: Size;
  /** Embedded guidance (`timestep_cond`); null if the network has no such input. */
  readonly guidance: Float32Array | null;
  /** Guidance scale, for networks that take it as a number. */
  readonly scale?: number;
  /** Additional channels of inpainting networks, after those of the latents; null for other networks. */
  readonly extraChannels?: Float32Array | null;
}

/** Network that predicts the noise in latents: a U-Net, or a transformer with the same inputs. */
export class Denoiser {
  readonly #graph: PipelineGraph;
  /** Input of the latents: "sample", or "hidden_states" in transformers. */
  readonly #latentsName: string;
  /** Whether the network takes latents as tokens with positions, like Flux. */
  readonly isPacked: boolean;
  /** Whether the network is a flow-matching transformer with a separate input for pooled text. */
  readonly hasPooledText: boolean;
  /** Whether the guidance scale is a separate input. */
  readonly takesScale: boolean;
  /** Width of the text input, if the graph states it. */
  readonly textWidth: number | null;
  readonly channels: number;
  /** Whether the network also takes a mask and the latents of the kept part. */
  readonly isInpainting: boolean;
  /** Size of the latents if the graph was exported for one size; otherwise null. */
  readonly fixedLatentSize: Size | null;

  /** @throws {JobFailure} `model_invalid` when the network is not for text-to-image. */
  constructor(graph: PipelineGraph, decoderChannels: number) {
    this.#graph = graph;
    this.#latentsName = graph.inputDims("sample") === undefined ? "hidden_states" : "sample";
    const dims = graph.inputDims(this.#latentsName);
    this.isPacked = dims?.length === 3 && graph.inputDims("img_ids") !== undefined;
    this.hasPooledText = graph.inputDims("pooled_projections") !== undefined;
    this.takesScale = graph.inputDims("guidance") !== undefined;
    this.textWidth = graph.inputDims("encoder_hidden_states")?.[2] ?? null;
    const perToken = this.isPacked ? dims?.[2] : undefined;
    const [, channels = null, height = null, width = null] = this.isPacked
      ? [null, typeof perToken === "number" ? perToken / PATCH_SIDE ** 2 : null]
      : (dims ?? []);
    if (dims?.length !== 4 && !this.isPacked)
      throw new JobFailure(
        "model_invalid",
        `${graph.part} lacks an input for latents; its inputs are ${graph.inputNames.join(", ")}`,
      );
    this.isInpainting = channels === 2 * decoderChannels + 1;
    // Upscaling networks, which are not supported, take additional channels of an image.
    if (channels !== null && channels !== decoderChannels && !this.isInpainting)
      throw new JobFailure(
        "model_invalid",
        `${graph.part} expects ${channels} channels, but vae_decoder expects ${decoderChannels}`,
      );
    this.channels = decoderChannels;
    this.fixedLatentSize = width !== null && height !== null ? { width, height } : null;
  }

  /**
   * Returns the width of the embedded guidance; null if the network has no such input. @param configured the width in
   * `unet/config.json`
   */
  guidanceWidth(configured: number): number | null {
    const dims = this.#graph.inputDims("timestep_cond");
    return dims === undefined ? null : (dims[1] ?? configured);
  }

  /**
   * Returns the network's output for `latents` with each prompt's embeddings, in one batch if the graph allows it.
   * @returns one array per prompt, each as long as `latents`.
   */
  async predict(
    latents: Float32Array,
    timestep: number,
    embeddings: readonly PromptEmbeddings[],
    context: DenoiserContext,
  ): Promise<Float32Array[]> {
    const fixedBatch = this.#graph.inputDims(this.#latentsName)?.[0] ?? null;
    if (fixedBatch !== 1 || embeddings.length === 1) return this.#run(latents, timestep, embeddings, context);
    const modelOutput: Float32Array[] = [];
    for (const each of embeddings) modelOutput.push(...(await this.#run(latents, timestep, [each], context)));
    return modelOutput;
  }

  async #run(
    latents: Float32Array,
    timestep: number,
    embeddings: readonly PromptEmbeddings[],
    { latentSize, imageSize, guidance, scale = 1, extraChannels = null }: DenoiserContext,
  ): Promise<Float32Array[]> {
    const count = embeddings.length;
    const repeat = (numbers: ArrayLike<number>, dims: readonly number[]): NumberGrid =>
      stack(Array.from({ length: count }, () => ({ data: Float32Array.from(numbers), dims: [1, ...dims] })));
    const input = extraChannels === null ? latents : Float32Array.from([...latents, ...extraChannels]);
    const area = latentSize.height * latentSize.width;
    const sample = repeat(input, [input.length / area, latentSize.height, latentSize.width]);
    const states = stack(embeddings.map((each) => each.states));
    const pooled = embeddings.flatMap((each) => each.pooled ?? []);
    const timeDims = this.#graph.inputDims("timestep") ?? [];
    // U-Nets take one timestep for all images; transformers take one for each image.
    const times = timeDims.length === 0 ? 1 : (timeDims[0] ?? (this.hasPooledText ? count : 1));
    const time = this.isPacked ? timestep / FLUX_TIMESTEPS : timestep;
    const packed = (): NumberGrid => packLatents(Float32Array.from(input), this.channels, latentSize);
    const outputs = await this.#graph.run({
      [this.#latentsName]: this.isPacked ? stack(Array.from({ length: count }, packed)) : sample,
      timestep: { data: Array<number>(times).fill(time), dims: timeDims.length === 0 ? [] : [times] },
      ...(this.isPacked ? { img_ids: imagePositions(latentSize), txt_ids: textPositions(states.dims[1] ?? 0) } : {}),
      ...(this.takesScale ? { guidance: { data: Array<number>(count).fill(scale), dims: [count] } } : {}),
      encoder_hidden_states: states,
      ...(guidance === null ? {} : { timestep_cond: repeat(guidance, [guidance.length]) }),
      ...(pooled.length === 0
        ? {}
        : {
            text_embeds: stack(pooled),
            pooled_projections: stack(pooled),
            // Original size, upper left corner of the crop, target size.
            time_ids: repeat([imageSize.height, imageSize.width, 0, 0, imageSize.height, imageSize.width], [6]),
          }),
    });
    const modelOutput = outputs.get(this.#graph.outputNames[0] ?? "");
    if (modelOutput?.data.length !== latents.length * count)
      throw new JobFailure(
        "model_invalid",
        `${this.#graph.part} returned the dimensions [${modelOutput?.dims.join(", ")}], which differ in size from the latents`,
      );
    return embeddings.map((_, i) => {
      const own = modelOutput.data.subarray(i * latents.length, (i + 1) * latents.length);
      return this.isPacked ? unpackLatents(own, this.channels, latentSize) : own;
    });
  }
}

/** Joins grids of the same size along the first dimension. */
function stack(grids: readonly NumberGrid[]): NumberGrid {
  const [first] = grids;
  const data = new Float32Array(grids.reduce((sum, grid) => sum + grid.data.length, 0));
  let at = 0;
  for (const grid of grids) {
    data.set(grid.data, at);
    at += grid.data.length;
  }
  return { data, dims: [grids.length, ...(first?.dims.slice(1) ?? [])] };
}
