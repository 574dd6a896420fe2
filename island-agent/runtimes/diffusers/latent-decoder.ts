import { JobFailure } from "../../../shared/errors.ts";
import type { Size } from "./size.ts";
import { numberIn } from "./pipeline-files.ts";
import type { PipelineGraph } from "./pipeline-graph.ts";

const DEFAULT_CHANNELS = 4;
/** Default factor between encoder output and latents. Source: Rombach et al. 2022, code; Podell et al. 2023, code. */
const DEFAULT_SCALING = 0.18215;
const DEFAULT_XL_SCALING = 0.13025;
const COLOURS = 3;
/** Pixels per latent, in width and in height. */
export const VAE_SCALE_FACTOR = 8;

/** 8-bit RGB pixels, row by row. */
export interface Image {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** Scale of latents, which are `(encoded - shift) * factor`. */
export interface LatentScale {
  readonly factor: number;
  readonly shift: number;
}

/**
 * Returns the VAE decoder, which converts latents to pixels.
 * @param config `vae_decoder/config.json`, or empty without such a file.
 */
export function latentDecoder(graph: PipelineGraph, config: Readonly<Record<string, unknown>>, isXl: boolean) {
  const scale = {
    factor: numberIn(config, "scaling_factor") ?? (isXl ? DEFAULT_XL_SCALING : DEFAULT_SCALING),
    shift: typeof config["shift_factor"] === "number" ? config["shift_factor"] : 0,
  };
  const channels = numberIn(config, "latent_channels") ?? DEFAULT_CHANNELS;

  /** @throws {JobFailure} `model_invalid` when the output is not an image of that size. */
  async function decode(latents: Float32Array, { width, height }: Size): Promise<Image> {
    const unscaled = latents.map((latent) => latent / scale.factor + scale.shift);
    const [name = "latent_sample"] = graph.inputNames;
    const outputs = await graph.run({ [name]: { data: unscaled, dims: [1, channels, height, width] } });
    const decoded = outputs.get(graph.outputNames[0] ?? "");
    const size = { width: width * VAE_SCALE_FACTOR, height: height * VAE_SCALE_FACTOR };
    const wanted = [1, COLOURS, size.height, size.width];
    if (decoded === undefined || decoded.dims.join() !== wanted.join())
      throw new JobFailure(
        "model_invalid",
        `${graph.part} returned the dimensions [${decoded?.dims.join(", ")}] instead of [${wanted.join(", ")}]`,
      );
    if (!decoded.data.every(Number.isFinite))
      throw new JobFailure("model_invalid", `${graph.part} returned NaN or infinity`);
    return { ...size, rgb: toRgb(decoded.data) };
  }

  return { channels, scale, decode };
}

export type LatentDecoder = ReturnType<typeof latentDecoder>;

/** Converts planes of red, green and blue from -1 to 1 to bytes, pixel by pixel. */
function toRgb(planes: Float32Array): Uint8Array {
  const imageSize = planes.length / COLOURS;
  const rgb = new Uint8ClampedArray(planes.length);
  for (let colour = 0; colour < COLOURS; colour++) {
    for (let pixel = 0; pixel < imageSize; pixel++)
      rgb[pixel * COLOURS + colour] = ((planes[colour * imageSize + pixel] ?? 0) + 1) * 127.5;
  }
  return new Uint8Array(rgb.buffer);
}
