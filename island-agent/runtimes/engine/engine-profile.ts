import type { ChatRequest } from "../../../shared/chat-input.ts";
import type { TextTask } from "../../../shared/text-task.ts";

/**
 * Reads an endpoint of the engine: GET, or POST if there is a body. Resolves to the response's JSON value, or to its
 * text if it is not JSON. Rejects with a {@link JobFailure} for a status other than 200, a late or a large response.
 */
export type ReadEngine = (path: string, body?: object) => Promise<unknown>;

/** What identifies the model's bytes. `file`: a GGUF file that this machine may be able to read. */
export type ModelProof =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "sha256"; readonly sha256: string }
  | { readonly kind: "hub"; readonly repository: string; readonly revision: string };

/** A model that an engine serves. Facts that the engine does not report are null. */
export interface EngineModel {
  /** Name of the model in requests to the engine. */
  readonly id: string;
  /** Null: the model chats. */
  readonly task: TextTask | null;
  /** Tokens of context of one run. */
  readonly contextTokens: number | null;
  /** Context with which the engine always loads the model, if its owner has set one. */
  readonly setContextTokens?: number | undefined;
  readonly proof: ModelProof | null;
  /** Changes with the model's bytes; null if the engine reports nothing of this kind. */
  readonly version: string | null;
  readonly parameters: string | null;
  readonly quantization: string | null;
  readonly readsImages: boolean;
  /** Abilities of the engine that this model lacks. */
  readonly lacks: readonly EngineAbility[];
}

/** Abilities that an engine may lack. A job that needs a missing ability is not sent to it. */
export type EngineAbility = "json" | "logprobs" | "raw" | "sampling" | "tools";

/** Facts about one kind of engine, such as Ollama. */
export interface EngineProfile {
  /** Name for the owner. */
  readonly name: string;
  /** Ports at which `island engines find` looks. */
  readonly ports: readonly number[];
  /** Recognises the engine by the response of one of its endpoints. */
  readonly signature: { readonly path: string; readonly matches: (response: unknown) => boolean };
  /** Endpoint that responds with 200 while the engine can serve. */
  readonly healthPath: string;
  /** @param known models of the previous call, which need not be read in detail again. */
  readonly models: (read: ReadEngine, known: readonly EngineModel[]) => Promise<readonly EngineModel[]>;
  /** True if another model needs another process. Otherwise each run asks again which models there are. */
  readonly keepsModels?: true;
  /** Returns the number of runs that the engine batches; null: it does not report it, and Atoll measures it. */
  readonly slots?: (read: ReadEngine) => Promise<number | null>;
  /** Returns the number of runs that the engine works on, for all its clients; null if it does not count them. */
  readonly running?: (read: ReadEngine) => Promise<number | null>;
  readonly abilities: readonly EngineAbility[];
  /** Members of a request whose last message, of another Island, the engine continues; null: it cannot. */
  readonly resume: Readonly<Record<string, unknown>> | null;
  /** Endpoint for reranking, and what its scores are; null: the engine has none. */
  readonly reranking: { readonly path: string; readonly scores: "logits" | "probabilities" } | null;
  /**
   * Members that this engine's requests have in addition to OpenAI's, or in place of them. `cacheKey`: see `RunRequest`;
   * a run without a key has a new one.
   */
  readonly chatMembers?: (chat: ChatRequest, cacheKey: string) => Readonly<Record<string, unknown>>;
}
