import { cacheKeyOf, type CargoManifest } from "../../../shared/cargo.ts";
import type { Clock } from "../../../shared/clock.ts";
import { CliError } from "../../../shared/errors.ts";
import type { Logger } from "../../../shared/logger.ts";
import { MAX_ENGINE_MODELS, type EngineModelReport } from "../../../shared/protocol/from-island.ts";
import type { AgentConfig } from "../../config/resolve-agent-config.ts";
import type { LoadedCargo } from "../runtime.ts";
import { AttachedEngine, type EngineStatus, type ServedModel } from "./attached-engine.ts";
import { engineCargo } from "./engine-cargo.ts";
import { openEngineFacts } from "./engine-facts.ts";
import type { EngineAbility } from "./engine-profile.ts";

/** Protocol features of each ability. See shared/features/features.ts. */
const FEATURES: Readonly<Record<EngineAbility, readonly string[]>> = {
  json: ["chat.json", "chat.schema2"],
  logprobs: ["chat.logprobs"],
  raw: ["chat.raw"],
  sampling: ["chat.sampling2"],
  tools: ["chat.tools", "llmcpp.template"],
};
/** Features of every engine. */
const COMMON_FEATURES = ["chat.large", "chat.long", "llmcpp.reasoning", "llmcpp.tasks"];

export interface Engines extends AsyncDisposable {
  /** Whether the owner lends any engine. */
  readonly isEmpty: boolean;
  /** Whether a command of the owner runs GGUF models, with their projectors. */
  readonly spawns: boolean;
  /** Returns the Cargo as an engine runs it; null if no engine serves its model now. */
  readonly load: (cargo: CargoManifest) => LoadedCargo | null;
  /** Returns whether an engine serves the Cargo's model now. */
  readonly serves: (cargo: CargoManifest) => boolean;
  readonly reports: () => EngineModelReport[];
  readonly status: () => EngineStatus[];
}

/**
 * Attaches the owner's engines.
 * @param onChange called when the served models or their free slots have changed.
 * @throws {CliError} for an engine on another machine that the owner has not allowed.
 */
export async function openEngines(
  dataDirectory: string,
  { urls, apiKey, slots, allowRemote, command }: AgentConfig["engines"],
  clock: Clock,
  log: Pick<Logger, "info" | "warn">,
  onChange: () => void,
): Promise<Engines> {
  for (const url of urls) if (!allowRemote) assertLocal(url);
  const facts = await openEngineFacts(dataDirectory);
  const engines = urls.map((url) => new AttachedEngine({ url, apiKey, slots, facts, clock, log, onChange }));

  function find({ adapters, parts, contextTokens, ...cargo }: CargoManifest): [AttachedEngine, ServedModel] | null {
    if (adapters !== undefined || parts !== undefined) return null;
    const key = cacheKeyOf(cargo);
    for (const engine of engines) {
      const served = engine.served.find((each) => each.key === key);
      if (served !== undefined && (served.model.contextTokens ?? Infinity) >= (contextTokens ?? 0)) {
        return [engine, served];
      }
    }
    return null;
  }

  return {
    isEmpty: engines.length === 0,
    spawns: command !== null,
    load(cargo) {
      const [engine, served] = find(cargo) ?? [];
      return engine === undefined || served === undefined ? null : engineCargo(engine, served, cargo);
    },
    serves: (cargo) => find(cargo) !== null,
    reports: () => engines.flatMap(reportsOf).slice(0, MAX_ENGINE_MODELS),
    status: () => engines.map((engine) => engine.status()),
    async [Symbol.asyncDispose]() {
      await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
    },
  };
}

function reportsOf(engine: AttachedEngine): EngineModelReport[] {
  return engine.served.map(({ key, model: { contextTokens, parameters, quantization, readsImages } }) => ({
    key,
    features: [...featuresOf(engine.profile.abilities), ...(readsImages ? ["chat.images"] : [])],
    contextTokens,
    isBusy: engine.isBusy,
    parameters,
    quantization,
  }));
}

function featuresOf(abilities: readonly EngineAbility[]): string[] {
  const features = [...COMMON_FEATURES, ...abilities.flatMap((ability) => FEATURES[ability])];
  if (abilities.includes("json") && abilities.includes("tools")) features.push("chat.tools-json");
  return features;
}

/** @throws {CliError} */
function assertLocal(url: string): void {
  const { hostname } = new URL(url);
  if (/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)) return;
  throw new CliError(
    `The engine at ${url} is on another machine, which would receive the prompts of clients. Allow it with: island config set engines.allow_remote true`,
  );
}
