import { JobFailure } from "../../../shared/errors.ts";
import type { NumberGrid, PipelineGraph } from "./pipeline-graph.ts";
import type { Conditioning } from "./text-conditioning.ts";

/** Size in cells: of latents, an eighth of the image's. */
export interface CellSize {
  readonly width: number;
  readonly height: number;
}

/** What stays the same in all steps of an image. */
export interface DenoiserContext {
  readonly cells: CellSize;
  /** Size of the image, which SDXL is told. */
  readonly pixels: CellSize;
  /** Embedded guidance (`timestep_cond`); null where the network does not take it. */
  readonly guidance: Float32Array | null;
}

/** The network that says what is noise in latents: a U-Net, or a transformer with the same inputs. */
export class Denoiser {
  readonly #graph: PipelineGraph;
  /** "sample", or "hidden_states" as transformers call the latents. */
  readonly #latentsName: string;
  /** Channels of the latents. */
  readonly channels: number;
  /** Where the graph was exported for one size only. */
  readonly fixedCells: CellSize | null;

  /** @throws {JobFailure} `model_invalid` when this is no network that draws from text alone. */
  constructor(graph: PipelineGraph, decoderChannels: number) {
    this.#graph = graph;
    this.#latentsName = graph.inputDims("sample") === undefined ? "hidden_states" : "sample";
    const [, channels = null, height = null, width = null] = graph.inputDims(this.#latentsName) ?? [];
    if (graph.inputDims(this.#latentsName)?.length !== 4)
      throw new JobFailure("model_invalid", `${graph.part} takes no latents: it has ${graph.inputNames.join(", ")}`);
    // Those that fill in or scale up take the channels of an image too.
    if (channels !== null && channels !== decoderChannels)
      throw new JobFailure("model_invalid", `${graph.part} takes ${channels} channels, vae_decoder ${decoderChannels}`);
    this.channels = decoderChannels;
    this.fixedCells = width !== null && height !== null ? { width, height } : null;
  }

  /** Numbers of the embedded guidance, null where the network does not take it. @param configured of `unet/config.json` */
  guidanceWidth(configured: number): number | null {
    const dims = this.#graph.inputDims("timestep_cond");
    return dims === undefined ? null : (dims[1] ?? configured);
  }

  /**
   * What the network says of `latents` under each conditioning; together in one run where the graph allows it.
   * @returns as many numbers as `latents` for each.
   */
  async predict(
    latents: Float32Array,
    timestep: number,
    conditionings: readonly Conditioning[],
    context: DenoiserContext,
  ): Promise<Float32Array[]> {
    const fixedBatch = this.#graph.inputDims(this.#latentsName)?.[0] ?? null;
    if (fixedBatch !== 1 || conditionings.length === 1) return this.#run(latents, timestep, conditionings, context);
    const said: Float32Array[] = [];
    for (const each of conditionings) said.push(...(await this.#run(latents, timestep, [each], context)));
    return said;
  }

  async #run(
    latents: Float32Array,
    timestep: number,
    conditionings: readonly Conditioning[],
    { cells, pixels, guidance }: DenoiserContext,
  ): Promise<Float32Array[]> {
    const count = conditionings.length;
    const repeat = (numbers: ArrayLike<number>, dims: readonly number[]): NumberGrid =>
      stack(Array.from({ length: count }, () => ({ data: Float32Array.from(numbers), dims: [1, ...dims] })));
    const sample = repeat(latents, [this.channels, cells.height, cells.width]);
    const states = stack(conditionings.map((each) => each.states));
    const pooled = conditionings.flatMap((each) => each.pooled ?? []);
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
            // Original size, upper left corner of the crop, wanted size.
            time_ids: repeat([pixels.height, pixels.width, 0, 0, pixels.height, pixels.width], [6]),
          }),
    });
    const said = outputs.get(this.#graph.outputNames[0] ?? "");
    if (said?.data.length !== latents.length * count)
      throw new JobFailure(
        "model_invalid",
        `${this.#graph.part} gives [${said?.dims.join(", ")}], not the latents' size`,
      );
    return conditionings.map((_, i) => said.data.subarray(i * latents.length, (i + 1) * latents.length));
  }
}

/** Grids of one size as one, the first dimension being their number. */
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
