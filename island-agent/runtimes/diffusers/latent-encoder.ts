import { JobFailure } from "../../../shared/errors.ts";
import type { Size } from "./size.ts";
import { type LatentScale, VAE_SCALE_FACTOR } from "./latent-decoder.ts";
import type { PipelineGraph } from "./pipeline-graph.ts";

const COLOURS = 3;

/**
 * Returns the VAE encoder, which converts pixels to latents.
 * @param scale of the decoder, which reverses it.
 */
export function latentEncoder(graph: PipelineGraph, channels: number, scale: LatentScale) {
  /**
   * Returns the latents of an image. If a graph returns mean and logarithm of the variance (twice as many channels),
   * the mean is used, so that an image always has the same latents. Source: Kingma and Welling 2013.
   * @param pixels planes of red, green and blue, -1 to 1. @param size of the latents.
   * @throws {JobFailure} `model_invalid` when the output is not latents of that size.
   */
  async function encode(pixels: Float32Array, { width, height }: Size): Promise<Float32Array> {
    const [name = "sample"] = graph.inputNames;
    const dims = [1, COLOURS, height * VAE_SCALE_FACTOR, width * VAE_SCALE_FACTOR];
    const outputs = await graph.run({ [name]: { data: pixels, dims } });
    const encoded = outputs.get(graph.outputNames[0] ?? "");
    const length = channels * height * width;
    const isLatents = encoded !== undefined && [length, 2 * length].includes(encoded.data.length);
    if (!isLatents || encoded.dims.slice(2).join() !== [height, width].join())
      throw new JobFailure(
        "model_invalid",
        `${graph.part} returned the dimensions [${encoded?.dims.join(", ")}], which are not those of latents`,
      );
    const latents = encoded.data.subarray(0, length).map((value) => (value - scale.shift) * scale.factor);
    if (!latents.every(Number.isFinite))
      throw new JobFailure("model_invalid", `${graph.part} returned NaN or infinity`);
    return latents;
  }

  return { encode };
}

export type LatentEncoder = ReturnType<typeof latentEncoder>;
