import { probeFailure } from "../probe-failure.ts";
import type { ProbeResult } from "../runtime.ts";
import { listProviders } from "./execution-providers.ts";

/** Probes the runtime. The version names the packages and the execution providers that work here. */
export async function probeOnnx(): Promise<ProbeResult> {
  try {
    const { env: ort } = await import("onnxruntime-node");
    const { env } = await import("@huggingface/transformers");
    const usable = (await listProviders()).filter(({ problem }) => problem === null).map(({ provider }) => provider);
    if (usable.length === 0) return { usable: false, reason: "ONNX Runtime has no execution provider that works here" };
    const version = `onnxruntime-node ${ort.versions.node ?? "?"}, transformers.js ${env.version}, ${usable.join("+")}`;
    return { usable: true, version };
  } catch (cause) {
    return probeFailure(cause);
  }
}
