import { EngineFailure } from "../engine-connection.ts";
import type { EngineProfile, ReadEngine } from "../engine-profile.ts";
import { koboldCpp } from "./kobold-cpp.ts";
import { llamaServer } from "./llama-server.ts";
import { lmStudio } from "./lm-studio.ts";
import { localAi } from "./local-ai.ts";
import { ollama } from "./ollama.ts";
import { openAiCompatible } from "./open-ai-compatible.ts";
import { sglang } from "./sglang.ts";
import { vllm } from "./vllm.ts";

/**
 * All profiles. The first that recognises an engine is used. Engines with endpoints of another engine come before that
 * engine, and the profile that recognises any engine is last.
 */
export const ENGINE_PROFILES: readonly EngineProfile[] = [
  sglang,
  koboldCpp,
  localAi,
  lmStudio,
  llamaServer,
  ollama,
  vllm,
  openAiCompatible,
];

/** Returns the profile of an engine. @throws {EngineFailure} if it does not respond or speaks another API. */
export async function recogniseEngine(read: ReadEngine): Promise<EngineProfile> {
  let problem: unknown = null;
  for (const profile of ENGINE_PROFILES) {
    try {
      if (profile.signature.matches(await read(profile.signature.path))) return profile;
    } catch (error) {
      problem = error;
      // A server that loads its model may list it already, and one whose other paths need a key may list its models
      // without. Both would pass for any OpenAI-compatible engine.
      if (error instanceof EngineFailure && (error.isUnavailable || error.needsKey)) throw error;
    }
  }
  throw new EngineFailure("No API of an engine: GET /v1/models does not list models", { cause: problem });
}
