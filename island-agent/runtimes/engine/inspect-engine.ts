import { access, constants } from "node:fs/promises";
import { abortable } from "../../../shared/async/abortable.ts";
import { connectEngine, EngineFailure, failureFor, type EngineConnection } from "./engine-connection.ts";
import { readModels } from "./engine-facts.ts";
import type { EngineModel } from "./engine-profile.ts";
import { recogniseEngine } from "./profiles/profiles.ts";

/** Proof of which model it is. `declared`: the host only declares it. */
export type ModelIdentity = "file hash" | "hub commit" | "declared";

export interface InspectedModel extends Pick<EngineModel, "id" | "task" | "contextTokens"> {
  readonly identity: ModelIdentity;
}

/** What an engine reports. */
export interface InspectedEngine {
  /** Kind of engine, such as "Ollama". */
  readonly name: string;
  readonly models: readonly InspectedModel[];
  /** Null: it does not report them, and the agent measures them. */
  readonly slots: number | null;
}

/** Asks an engine what it serves. @throws {EngineFailure} */
export async function inspectEngine(url: string, apiKey: string | null, limitMs: number): Promise<InspectedEngine> {
  using connection = connectEngine(url, apiKey);
  const limit = AbortSignal.timeout(limitMs);
  try {
    return await abortable(inspect(connection), limit);
  } catch (error) {
    if (!limit.aborted) throw failureFor(error, url);
    const message = `The engine at ${url} does not respond within ${limitMs / 1_000} s`;
    throw new EngineFailure(message, { isUnavailable: true });
  }
}

async function inspect(connection: EngineConnection): Promise<InspectedEngine> {
  const profile = await recogniseEngine(connection.read);
  const models = await readModels(profile, connection, []);
  return {
    name: profile.name,
    slots: (await profile.slots?.(connection.read)) ?? null,
    models: await Promise.all(
      models.map(async ({ id, task, contextTokens, proof }) => {
        return { id, task, contextTokens, identity: await identityOf(proof) };
      }),
    ),
  };
}

/** The hash of a file that this process can read is computed when the agent attaches the engine. */
async function identityOf(proof: EngineModel["proof"]): Promise<ModelIdentity> {
  switch (proof?.kind) {
    case undefined:
      return "declared";
    case "file":
      return access(proof.path, constants.R_OK).then(
        () => "file hash",
        () => "declared",
      );
    case "sha256":
      return "file hash";
    case "hub":
      return "hub commit";
    default:
      return proof satisfies never;
  }
}
