import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import type { HostedRuntime } from "../../../../island-agent/runtimes/host/hosted-runtime.ts";
import { onnxRuntime, type OnnxOptions } from "../../../../island-agent/runtimes/onnx/onnx-runtime.ts";
import type { LoadedCargo, RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import type { CargoManifest } from "../../../../shared/cargo.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { ONNX_OUTPUTS, type OnnxOutput, type OnnxTask, tensorsOutputSchema } from "../../../../shared/onnx-task.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { sandboxFor } from "../sandbox/test-sandbox.ts";

export const NEVER = new AbortController().signal;
const FIXTURES = path.resolve(import.meta.dirname, "../../../fixtures/onnx");

export function fixture(name: string): string {
  return path.join(FIXTURES, name);
}

export function makeRuntime(options: Partial<OnnxOptions> = {}): HostedRuntime {
  return onnxRuntime({
    sandbox: sandboxFor({ gpu: false, mayFork: false }),
    threads: 1,
    clock: systemClock,
    ...options,
  });
}

export function makeCargo(task: string | null, overrides: Partial<CargoManifest> = {}): CargoManifest {
  return {
    slug: "tiny",
    runtimeType: "onnx",
    onnxTaskType: task,
    model: null,
    requiredRamBytes: 0,
    requiredVramBytes: 0,
    contextTokens: null,
    ...overrides,
  };
}

/** A fixture, loaded for a task. */
export function loadTiny(
  task: OnnxTask | null,
  name: string,
  overrides: Partial<CargoManifest> = {},
  options: Partial<OnnxOptions> = {},
): Promise<HostedCargo> {
  return makeRuntime(options).load(makeCargo(task, overrides), fixture(name), NEVER);
}

export interface Collected<Output> extends Omit<RunResult, "output"> {
  readonly output: Output;
  readonly items: readonly OutputItem[];
}

/** Runs a job to its end. The output must match the table of outputs, without extra fields. */
export async function collect<Task extends OnnxTask>(
  cargo: LoadedCargo,
  task: Task,
  input: object,
): Promise<Collected<OnnxOutput<Task>>> {
  const run = await collectAny(cargo, input);
  const output = ONNX_OUTPUTS[task].parse(run.output) as OnnxOutput<Task>;
  if (JSON.stringify(output) !== JSON.stringify(run.output)) throw new Error("the output has more than is documented");
  return { ...run, output };
}

/** Runs a job of tensors to its end. */
export async function collectTensors(cargo: LoadedCargo, inputs: object) {
  const run = await collectAny(cargo, { inputs });
  return tensorsOutputSchema.parse(run.output).outputs;
}

async function collectAny(cargo: LoadedCargo, input: object): Promise<RunResult & { items: OutputItem[] }> {
  const items: OutputItem[] = [];
  const result = await cargo.run({ input: { ...input }, resume: null }, (item) => items.push(item), NEVER);
  return { ...result, items };
}

/** The folder is removed when the object is disposed. */
export class TemporaryFolder implements Disposable {
  readonly path = mkdtempSync(path.join(tmpdir(), "atoll-onnx-"));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}
