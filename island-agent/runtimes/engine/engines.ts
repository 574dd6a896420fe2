import { isLoopback } from "../../../shared/net/loopback.ts";
import { abortable } from "../../../shared/async/abortable.ts";
import { isServedBy, type CargoManifest } from "../../../shared/cargo.ts";
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
  /**
   * Attaches and detaches engines, so that they are those of changed settings. Runs on a detached engine finish.
   * @throws {CliError} for an engine on another machine that the owner has not allowed; nothing changes then.
   */
  readonly replace: (settings: AgentConfig["engines"]) => void;
  /** Whether a command of the owner runs GGUF models, with their projectors. */
  readonly spawns: boolean;
  /** Resolves when each engine has been checked once, at the latest after `limitMs`. */
  readonly checked: (limitMs: number) => Promise<void>;
  /** Number of jobs that the engines run at the same time. */
  readonly slots: () => number;
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
  settings: AgentConfig["engines"],
  clock: Clock,
  log: Pick<Logger, "info" | "warn">,
  onChange: () => void,
): Promise<Engines> {
  assertAllowed(settings);
  const facts = await openEngineFacts(dataDirectory);
  const attach = (url: string, { apiKey, slots }: AgentConfig["engines"]): AttachedEngine =>
    new AttachedEngine({ url, apiKey, slots, facts, clock, log, onChange });
  let current = settings;
  let engines = settings.urls.map((url) => attach(url, settings));
  /** Detached engines with runs. */
  const leaving = new Set<Promise<void>>();

  function replace(changed: AgentConfig["engines"]): void {
    assertAllowed(changed);
    const isSame = changed.apiKey === current.apiKey && changed.slots === current.slots;
    const before = engines;
    engines = changed.urls.map((url) => {
      const kept = isSame ? before.find((each) => each.connection.url === url) : undefined;
      return kept ?? attach(url, changed);
    });
    current = changed;
    for (const engine of before.filter((each) => !engines.includes(each))) {
      const left = engine[Symbol.asyncDispose]().finally(() => leaving.delete(left));
      leaving.add(left);
    }
    onChange();
  }

  function find(cargo: CargoManifest): [AttachedEngine, ServedModel] | null {
    for (const engine of engines) {
      if (cargo.task === "text-ranking" && engine.profile.reranking === null) continue;
      const served = engine.served.find(({ key, model: { contextTokens } }) =>
        isServedBy(cargo, { key, contextTokens }),
      );
      if (served !== undefined) return [engine, served];
    }
    return null;
  }

  return {
    replace,
    spawns: settings.command !== null,
    async checked(limitMs) {
      const checks = Promise.all(engines.map((engine) => engine.check()));
      await abortable(checks, AbortSignal.timeout(limitMs)).catch(() => undefined);
    },
    slots: () => engines.reduce((sum, { slots }) => sum + slots, 0),
    load(cargo) {
      const [engine, served] = find(cargo) ?? [];
      return engine === undefined || served === undefined ? null : engineCargo(engine, served, cargo);
    },
    serves: (cargo) => find(cargo) !== null,
    reports: () => engines.flatMap(reportsOf).slice(0, MAX_ENGINE_MODELS),
    status: () => engines.map((engine) => engine.status()),
    async [Symbol.asyncDispose]() {
      await Promise.all([...leaving, ...engines.map((engine) => engine[Symbol.asyncDispose]())]);
    },
  };
}

function reportsOf(engine: AttachedEngine): EngineModelReport[] {
  return engine.served.map(({ key, model: { contextTokens, parameters, quantization, readsImages, lacks } }) => ({
    key,
    features: [
      ...featuresOf(engine.profile.abilities.filter((each) => ![...lacks, ...engine.lacks].includes(each))),
      ...(readsImages ? ["chat.images"] : []),
    ],
    contextTokens,
    slots: engine.jobSlots,
    parameters,
    quantization,
  }));
}

function featuresOf(abilities: readonly EngineAbility[]): string[] {
  const features = [...COMMON_FEATURES, ...abilities.flatMap((ability) => FEATURES[ability])];
  if (abilities.includes("json") && abilities.includes("tools")) features.push("chat.tools-json");
  return features;
}

/** @throws {CliError} for an engine on another machine that the owner has not allowed. */
export function assertAllowed({ urls, allowRemote }: Pick<AgentConfig["engines"], "urls" | "allowRemote">): void {
  const url = allowRemote ? undefined : urls.find((each) => !isLoopback(new URL(each).hostname));
  if (url === undefined) return;
  throw new CliError(
    `The engine at ${url} is on another machine, which would receive the prompts of clients. Allow it with: island config set engines.allow_remote true`,
  );
}
