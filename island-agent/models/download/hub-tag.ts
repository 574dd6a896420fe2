import { z } from "zod";
import { JobFailure } from "../../../shared/errors.ts";
import type { FetchPolicy } from "./fetch-policy.ts";
import { parseJson, readBody } from "./json-body.ts";
import { requestModel } from "./model-request.ts";
import { hubFileUrl, hubManifestUrl, type ModelSource } from "./model-source.ts";
import { statusError } from "./response-status.ts";

const MAX_MANIFEST_BYTES = 1_000_000;
const manifestSchema = z.object({ ggufFile: z.object({ rfilename: z.string().min(1).max(1_000) }) });

/**
 * The URL of a source's file. Asks the hub when the source names a quantisation. The hub sends the full answer only to
 * llama.cpp's user agent.
 * @throws {JobFailure | RetriableError}
 */
export async function resolveFileUrl(
  source: ModelSource,
  policy: FetchPolicy,
  nowMs: number,
  signal: AbortSignal,
): Promise<URL> {
  if (source.kind === "file") return source.url;
  const url = hubManifestUrl(policy, source.repository, source.tag);
  const response = await requestModel(url, { "user-agent": "llama-cpp", accept: "application/json" }, policy, signal);
  try {
    if (response.status !== 200) throw statusError(url, response, policy, nowMs);
    const manifest = manifestSchema.safeParse(
      parseJson(await readBody(response.message, MAX_MANIFEST_BYTES, "The hub's manifest")),
    );
    if (!manifest.success) throw noFile(source.repository, source.tag);
    return hubFileUrl(policy, source.repository, manifest.data.ggufFile.rfilename, "main");
  } finally {
    response.message.destroy();
  }
}

function noFile(repository: string, tag: string): JobFailure {
  return new JobFailure("model_unavailable", `The hub names no GGUF file for ${repository}:${tag}`, {
    retryable: true,
  });
}
