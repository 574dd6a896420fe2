import { JobFailure } from "../../../shared/errors.ts";
import type { NumberGrid, PipelineGraph } from "./pipeline-graph.ts";
import type { PromptEmbeddings } from "./prompt-embeddings.ts";

/** Width and height: of latents, or of an image in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Inputs that are the same in all steps of an image. */
export interface DenoiserContext {
  readonly latentSize: Size;
  /** Size of the image, an input of SDXL. */
  readonly imageSize: Size;
  /** Embedded guidance (`timestep_cond`); null if the network has no such input. */
  readonly guidance: Float32Array | null;
  /** Channels after those of the latents, of a network for inpainting; null for others. */
  readonly extraChannels?: Float32Array | null;
}

/** The network that predicts the noise in latents: a U-Net, or a transformer with the same inputs. */
export class Denoiser {
  readonly #graph: PipelineGraph;
  /** Input of the latents: "sample", or "hidden_states" in transformers. */
  readonly #latentsName: string;
  /** Channels of the latents. */
  readonly channels: number;
  /** Whether it also takes a mask and the latents of what is kept. */
  readonly isInpainting: boolean;
  /** The only size of a graph that was exported for one size, otherwise null. */
  readonly fixedLatentSize: Size | null;

  /** @throws {JobFailure} `model_invalid` when the network is not for text-to-image. */
  constructor(graph: PipelineGraph, decoderChannels: number) {
    this.#graph = graph;
    this.#latentsName = graph.inputDims("sample") === undefined ? "hidden_states" : "sample";
    const [, channels = null, height = null, width = null] = graph.inputDims(this.#latentsName) ?? [];
    if (graph.inputDims(this.#latentsName)?.length !== 4)
      throw new JobFailure(
        "model_invalid",
        `${graph.part} has no input for latents, only ${graph.inputNames.join(", ")}`,
      );
    this.isInpainting = channels === 2 * decoderChannels + 1;
    // Networks for upscaling also take an image's channels.
    if (channels !== null && channels !== decoderChannels && !this.isInpainting)
      throw new JobFailure("model_invalid", `${graph.part} takes ${channels} channels, vae_decoder ${decoderChannels}`);
    this.channels = decoderChannels;
    this.fixedLatentSize = width !== null && height !== null ? { width, height } : null;
  }

  /** Width of the embedded guidance, null if the network has no such input. @param configured the width in `unet/config.json` */
  guidanceWidth(configured: number): number | null {
    const dims = this.#graph.inputDims("timestep_cond");
    return dims === undefined ? null : (dims[1] ?? configured);
  }

  /**
   * The network's output for `latents` with each prompt's embeddings, in one batch where the graph allows it.
   * @returns for each an array as long as `latents`.
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
    { latentSize, imageSize, guidance, extraChannels = null }: DenoiserContext,
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
    const times = timeDims.length === 0 ? 1 : (timeDims[0] ?? 1);
    const outputs = await this.#graph.run({
      [this.#latentsName]: sample,
      timestep: { data: Array<number>(times).fill(timestep), dims: timeDims.length === 0 ? [] : [times] },
      encoder_hidden_states: states,
      ...(guidance === null ? {} : { timestep_cond: repeat(guidance, [guidance.length]) }),
      ...(pooled.length === 0
        ? {}
        : {
            text_embeds: stack(pooled),
            // Original size, upper left corner of the crop, target size.
            time_ids: repeat([imageSize.height, imageSize.width, 0, 0, imageSize.height, imageSize.width], [6]),
          }),
    });
    const modelOutput = outputs.get(this.#graph.outputNames[0] ?? "");
    if (modelOutput?.data.length !== latents.length * count)
      throw new JobFailure(
        "model_invalid",
        `${this.#graph.part} returned [${modelOutput?.dims.join(", ")}], not the size of the latents`,
      );
    return embeddings.map((_, i) => modelOutput.data.subarray(i * latents.length, (i + 1) * latents.length));
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
