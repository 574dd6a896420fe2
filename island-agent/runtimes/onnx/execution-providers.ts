import { JobFailure } from "../../../shared/errors.ts";
import type { HostedModel } from "../host/serve-host.ts";

/** ONNX Runtime's names of what can run a graph, the fastest first; `cpu` is always there. */
export const EXECUTION_PROVIDERS = ["cuda", "dml", "coreml", "webgpu", "cpu"] as const;
export type ExecutionProvider = (typeof EXECUTION_PROVIDERS)[number];

/** What the owner wants graphs to run on; `auto`: the fastest that this host has. */
export type DeviceChoice = "auto" | ExecutionProvider;

/** One provider on this host. `problem`: why it cannot be used; null when it can. */
export interface ProviderState {
  readonly provider: ExecutionProvider;
  readonly problem: string | null;
}

/** A model of one `Identity` node, from `x` to `y`, one float32 each (opset 13): the least that a provider must be able to load. */
const IDENTITY_MODEL = Buffer.from(
  "CAgSBHRpbnk6QwocCgF4EgF5GgpJZGVudGl0eV95IghJZGVudGl0eRIBZ1oPCgF4EgoKCAgBEgQKAggBYg8KAXkSCgoICAESBAoCCAFCAhAN",
  "base64",
);
/** ONNX Runtime's log level at which only what ends the process is written. */
const FATAL_ONLY = 4;

/**
 * Tries every provider that onnxruntime-node has code for: whether it is bundled says nothing about libraries and drivers, and
 * those that are not bundled may have been added by the owner. Only for host processes: it loads native code.
 */
export async function listProviders(): Promise<ProviderState[]> {
  const { listSupportedBackends } = await import("onnxruntime-node");
  const known = new Set<string>(listSupportedBackends().map(({ name }) => name));
  const states: ProviderState[] = [];
  for (const provider of EXECUTION_PROVIDERS) {
    if (known.has(provider)) states.push({ provider, problem: await problemOf(provider) });
  }
  return states;
}

/**
 * The providers to make sessions with, in ONNX Runtime's order of preference: what `choice` names, then `cpu` for the operators
 * that it lacks. Only for host processes.
 * @throws {JobFailure} `runtime_unavailable` when this host does not have what `choice` names.
 */
export async function providersFor(choice: DeviceChoice): Promise<ExecutionProvider[]> {
  if (choice === "cpu") return ["cpu"];
  const states = await listProviders();
  if (choice === "auto") {
    const best = states.find(({ problem }) => problem === null)?.provider ?? "cpu";
    return best === "cpu" ? ["cpu"] : [best, "cpu"];
  }
  const chosen = states.find(({ provider }) => provider === choice);
  if (chosen?.problem === null) return [choice, "cpu"];
  const why = chosen?.problem ?? "this build of ONNX Runtime does not have it";
  throw new JobFailure("runtime_unavailable", `ONNX Runtime cannot use ${choice} here: ${why}`, { retryable: true });
}

/**
 * Memory that weights of `bytes` take of GPUs, null where they are the CPU's. ONNX Runtime does not tell what it took: this is the
 * least that it can be.
 */
export function gpuMemoryOf([first]: readonly ExecutionProvider[], bytes: number): HostedModel<never>["gpuMemory"] {
  return first === undefined || first === "cpu" ? null : { bytes, isShared: first === "coreml" };
}

async function problemOf(provider: ExecutionProvider): Promise<string | null> {
  const { InferenceSession } = await import("onnxruntime-node");
  try {
    const options = { executionProviders: [provider], logSeverityLevel: FATAL_ONLY } as const;
    const session = await InferenceSession.create(IDENTITY_MODEL, options);
    await session.release();
    return null;
  } catch (error) {
    // "file:line function condition was false. What happened"
    return (error instanceof Error ? error.message : String(error)).replace(/^.* was false\. /s, "").trim();
  }
}
