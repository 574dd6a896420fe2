import { JobFailure } from "../../../shared/errors.ts";
import type { HostedModel } from "../host/serve-host.ts";

/** ONNX Runtime's names of execution providers, the fastest first. `cpu` is always available. */
const EXECUTION_PROVIDERS = ["cuda", "dml", "coreml", "webgpu", "cpu"] as const;
export type ExecutionProvider = (typeof EXECUTION_PROVIDERS)[number];

/** Device for graphs; `auto`: the fastest that works on this host. */
export type DeviceChoice = "auto" | ExecutionProvider;

/** One provider on this host. `problem` is null when it works. */
interface ProviderState {
  readonly provider: ExecutionProvider;
  readonly problem: string | null;
}

/** A model of one float32 `Identity` node from `x` to `y` (opset 13), which all working providers can load. */
const IDENTITY_MODEL = Buffer.from(
  "CAgSBHRpbnk6QwocCgF4EgF5GgpJZGVudGl0eV95IghJZGVudGl0eRIBZ1oPCgF4EgoKCAgBEgQKAggBYg8KAXkSCgoICAESBAoCCAFCAhAN",
  "base64",
);
/** ONNX Runtime's log level for fatal errors only; other errors are also thrown. */
export const LOG_FATAL_ONLY = 4;

/**
 * Tests every provider that onnxruntime-node knows. A bundled provider may lack its libraries and drivers, and the
 * owner may have added one that is not bundled. Only for host processes, because it loads native code.
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
 * Returns the providers of a session in order of preference: the chosen one, then `cpu` for the operators that it
 * lacks. Only for host processes.
 * @throws {JobFailure} `runtime_unavailable` when the chosen provider does not work on this host.
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
  const why = chosen?.problem ?? "this build of ONNX Runtime does not include it";
  throw new JobFailure("runtime_unavailable", `ONNX Runtime cannot use ${choice} here: ${why}`, { retryable: true });
}

/** Returns the minimum GPU memory for weights of `bytes`; null on the CPU. ONNX Runtime does not report its memory. */
export function gpuMemoryOf([first]: readonly ExecutionProvider[], bytes: number): HostedModel<never>["gpuMemory"] {
  return first === undefined || first === "cpu" ? null : { bytes, isShared: first === "coreml" };
}

async function problemOf(provider: ExecutionProvider): Promise<string | null> {
  const { InferenceSession } = await import("onnxruntime-node");
  try {
    const options = { executionProviders: [provider], logSeverityLevel: LOG_FATAL_ONLY } as const;
    const session = await InferenceSession.create(IDENTITY_MODEL, options);
    await session.release();
    return null;
  } catch (error) {
    // The message has the form "file:line function condition was false. What happened".
    return (error instanceof Error ? error.message : String(error)).replace(/^.* was false\. /s, "").trim();
  }
}
