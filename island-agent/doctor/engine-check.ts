import { describeCount } from "../../shared/cli/describe-count.ts";
import { isAllowed } from "../../shared/owner-policy.ts";
import { policyOf } from "../config/owner-policy.ts";
import type { AgentConfig } from "../config/resolve-agent-config.ts";
import type { EngineStatus } from "../runtimes/engine/attached-engine.ts";
import { describeEngine, describeModel } from "../runtimes/engine/describe-engine.ts";
import { assertAllowed } from "../runtimes/engine/engines.ts";
import { inspectEngine, type InspectedModel } from "../runtimes/engine/inspect-engine.ts";

const MAX_CHECK_MS = 10_000;
const NOT_ALLOWED =
  "It gets no jobs, because cargos.allow_runtimes or cargos.deny_runtimes excludes engine. Change them with: island config set";

/** An engine that the owner lends, as `island engines check` and `island doctor` see it. */
export interface ExaminedEngine {
  readonly url: string;
  /** Kind of engine, such as "Ollama"; null: it did not respond. */
  readonly name: string | null;
  readonly models: readonly InspectedModel[];
  /** Null: not known before the running agent has measured them. */
  readonly slots: number | null;
  readonly slotsAre: "set by you" | "reported" | "measured" | null;
  /** State in the running agent; null: none runs. */
  readonly agent: EngineStatus | null;
  /** Problem with advice; null: jobs can run. */
  readonly problem: string | null;
}

/**
 * Connects to the engines that the owner lends.
 * @param running engines of the agent that runs on this data directory; empty if none runs.
 */
export function checkEngines(
  config: Pick<AgentConfig, "engines" | "containers" | "cargos">,
  running: readonly EngineStatus[],
): Promise<ExaminedEngine[]> {
  return Promise.all(
    config.engines.urls.map((url) => checkEngine(url, config, running.find((each) => each.url === url) ?? null)),
  );
}

async function checkEngine(
  url: string,
  config: Parameters<typeof checkEngines>[0],
  agent: EngineStatus | null,
): Promise<ExaminedEngine> {
  const { apiKey, slots: ownSlots, allowRemote } = config.engines;
  try {
    assertAllowed({ urls: [url], allowRemote });
    const { name, models, slots: reported } = await inspectEngine(url, apiKey, MAX_CHECK_MS);
    const measured = agent?.state === "ready" ? agent.slots : null;
    const slots = ownSlots ?? reported ?? measured;
    const source = ownSlots !== null ? "set by you" : reported !== null ? "reported" : "measured";
    return {
      url,
      name,
      models,
      slots,
      slotsAre: slots === null ? null : source,
      agent,
      problem: isAllowed(policyOf(config, false).runtimes, "engine") ? problemOf(models, agent) : NOT_ALLOWED,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const problem = `${reason}. If you no longer lend it: island engines remove ${url}`;
    return { url, name: null, models: [], slots: null, slotsAre: null, agent, problem };
  }
}

function problemOf(models: readonly InspectedModel[], agent: EngineStatus | null): string | null {
  if (models.length === 0) return "It serves no model. Load one in the engine";
  if (agent === null || agent.state === "ready") return null;
  return `It responds, but gets no jobs from the running agent. ${describeEngine(agent)}`;
}

/** Returns lines for the owner. */
export function describeExamined({ url, name, models, slots, slotsAre, agent, problem }: ExaminedEngine): string[] {
  const number = slots === null ? "slots are measured by the agent" : `${describeCount(slots, "slot")} (${slotsAre})`;
  const others =
    agent === null || agent.othersRunning === 0
      ? []
      : [describeCount(agent.othersRunning, "run") + " of other clients"];
  return [
    name === null ? url : [`${name} at ${url}`, number, ...others].join(", "),
    ...models.map((model) => `  ${describeModel(model)}`),
    ...(problem === null ? [] : [`  Problem: ${problem}`]),
  ];
}
