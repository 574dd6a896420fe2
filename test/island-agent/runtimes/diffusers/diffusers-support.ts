import { cpSync, writeFileSync } from "node:fs";
import path from "node:path";
import sharp from "sharp";
import {
  diffusersRuntime,
  type DiffusersOptions,
} from "../../../../island-agent/runtimes/diffusers/diffusers-runtime.ts";
import { loadPipeline } from "../../../../island-agent/runtimes/diffusers/load-pipeline.ts";
import type { ImageJob } from "../../../../island-agent/runtimes/diffusers/image-input.ts";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import type { HostedRuntime } from "../../../../island-agent/runtimes/host/hosted-runtime.ts";
import type { LoadedCargo, RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import type { CargoManifest } from "../../../../shared/cargo.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { imageOutputSchema } from "../../../../shared/onnx-task.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { TemporaryFolder } from "../onnx/onnx-support.ts";
import { sandboxFor } from "../sandbox/test-sandbox.ts";

export const NEVER = new AbortController().signal;
const FIXTURES = path.resolve(import.meta.dirname, "../../../fixtures/diffusers");

export function pipelineFixture(name: string): string {
  return path.join(FIXTURES, name);
}

/** Copies of a pipeline's folder that tests damage. */
export class PipelineCopies implements Disposable {
  readonly #folder = new TemporaryFolder();
  #count = 0;

  make(name = "tiny-sd"): string {
    const copy = path.join(this.#folder.path, String(this.#count++));
    cpSync(pipelineFixture(name), copy, { recursive: true });
    return copy;
  }

  /** Returns a copy with these fields in its scheduler_config.json. */
  withScheduler(fields: object, name = "tiny-sd"): string {
    const copy = this.make(name);
    const content = { beta_start: 0.00085, beta_end: 0.012, beta_schedule: "scaled_linear", ...fields };
    writeFileSync(path.join(copy, "scheduler/scheduler_config.json"), JSON.stringify(content));
    return copy;
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

export function makeRuntime(options: Partial<DiffusersOptions> = {}): HostedRuntime {
  return diffusersRuntime({
    sandbox: sandboxFor({ gpu: false, mayFork: false }),
    threads: 1,
    device: "cpu",
    clock: systemClock,
    ...options,
  });
}

export function makeCargo(overrides: Partial<CargoManifest> = {}): CargoManifest {
  return {
    slug: "tiny-painter",
    runtimeType: "diffusers",
    onnxTaskType: null,
    model: null,
    requiredRamBytes: 0,
    requiredVramBytes: 0,
    contextTokens: null,
    ...overrides,
  };
}

export function loadPainter(
  modelPath: string,
  overrides: Partial<CargoManifest> = {},
  options: Partial<DiffusersOptions> = {},
): Promise<HostedCargo> {
  return makeRuntime(options).load(makeCargo(overrides), modelPath, NEVER);
}

/** One image, decoded from its PNG. */
export interface Painted extends RunResult {
  readonly items: readonly OutputItem[];
  /** base64 of the PNG file. */
  readonly data: string;
  readonly width: number;
  readonly height: number;
  /** Means, 0 to 255. */
  readonly red: number;
  readonly green: number;
  readonly blue: number;
}

/** Runs a job to its end. */
export async function paint(cargo: LoadedCargo, input: object): Promise<Painted> {
  const items: OutputItem[] = [];
  const result = await cargo.run({ input: { ...input }, resume: null }, (item) => items.push(item), NEVER);
  return decode(result, items);
}

/** Runs one job as a host does, but in this process, which is faster for a single image. */
export async function paintHere(modelPath: string, job: ImageJob): Promise<Painted> {
  const model = await loadPipeline({ modelPath, weights: null, device: "cpu", threads: 1 });
  try {
    const items: OutputItem[] = [];
    const noteItem = (item: OutputItem): unknown => items.push(item);
    const watcher = { onPrompt: () => undefined, onWorking: () => undefined };
    const result = await model.run({ job, resume: null, cacheKey: undefined }, noteItem, NEVER, watcher);
    return await decode(result, items);
  } finally {
    await model.dispose();
  }
}

async function decode(result: RunResult, items: readonly OutputItem[]): Promise<Painted> {
  const { format, data } = imageOutputSchema.parse(result.output);
  const { info, data: imageSize } = await sharp(Buffer.from(data, "base64"))
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (format !== "png" || info.channels !== 3) throw new Error(`unexpected ${format} of ${info.channels} channels`);
  const meanOf = (channel: number): number => {
    let sum = 0;
    for (let i = channel; i < imageSize.length; i += 3) sum += imageSize[i] ?? NaN;
    return (sum * 3) / imageSize.length;
  };
  const { width, height } = info;
  return { ...result, items, data, width, height, red: meanOf(0), green: meanOf(1), blue: meanOf(2) };
}

/** Means of a channel that is clearly present, and clearly absent. */
export const PLAINLY = 170;
export const HARDLY = 85;
