import { getLlama, getModuleVersion, type Llama } from "node-llama-cpp";
import { probeFailure } from "../probe-failure.ts";
import type { ProbeResult } from "../runtime.ts";
import { loadBackEndsFrom } from "./back-ends.ts";
import type { ProbeRequest } from "./host-requests.ts";

/** Starts llama.cpp without a model. The version in the result names the releases and the GPU back end. */
export async function probeLlama({ gpu, backEnds }: ProbeRequest): Promise<ProbeResult> {
  try {
    if (backEnds !== null) loadBackEndsFrom(backEnds);
    const llama = await getLlama({ gpu, build: "never", skipDownload: true, progressLogs: false });
    return { usable: true, version: await versionOf(llama) };
  } catch (cause) {
    return probeFailure(cause);
  }
}

async function versionOf(llama: Llama): Promise<string> {
  const release = llama.llamaCppRelease.release;
  return `node-llama-cpp ${await getModuleVersion()}, llama.cpp ${release}, ${llama.gpu === false ? "cpu" : llama.gpu}`;
}
