import { env as ort } from "onnxruntime-node";
import { type DeviceChoice, providersFor } from "../onnx/execution-providers.ts";
import { probeFailure } from "../probe-failure.ts";
import type { ProbeResult } from "../runtime.ts";

/** Probes the runtime. The version names the packages and the providers that generate images here. */
export async function probeDiffusers(device: DeviceChoice): Promise<ProbeResult> {
  try {
    const { env } = await import("@huggingface/transformers");
    await import("sharp");
    const providers = await providersFor(device);
    const version = `onnxruntime-node ${ort.versions.node ?? "?"}, transformers.js ${env.version}, ${providers.join("+")}`;
    return { usable: true, version };
  } catch (cause) {
    return probeFailure(cause);
  }
}
