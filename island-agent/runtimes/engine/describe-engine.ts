import { describeCount } from "../../../shared/cli/describe-count.ts";
import type { EngineStatus } from "./attached-engine.ts";
import type { InspectedModel, ModelIdentity } from "./inspect-engine.ts";

const IDENTITIES: Readonly<Record<ModelIdentity, string>> = {
  "file hash": "proved by the hash of its file",
  "hub commit": "proved by its commit on the hub",
  declared: "declared by you: nothing proves which model it is",
};

/** Returns "qwen3:8b, 8192 tokens of context, proved by the hash of its file". */
export function describeModel({ id, contextTokens, identity }: InspectedModel): string {
  const context = contextTokens === null ? "context unknown" : `${contextTokens} tokens of context`;
  return `${id}, ${context}, ${IDENTITIES[identity]}`;
}

/** Returns an engine of the running agent with its state, such as "Ollama at http://…: paused for 30 s: …". */
export function describeEngine(status: EngineStatus): string {
  return `${status.name ?? "Engine"} at ${status.url}: ${stateOf(status)}`;
}

function stateOf({ state, slots, running, othersRunning, models, declared, problem, pauseMs }: EngineStatus): string {
  switch (state) {
    case "checking":
      return "not checked yet";
    case "unavailable":
      return `unavailable: ${problem}`;
    case "paused":
      return `paused for ${Math.ceil((pauseMs ?? 0) / 1_000)} s: ${problem}`;
    case "ready": {
      const names = models.map((name) => (declared.includes(name) ? `${name} (declared)` : name));
      const others = othersRunning === 0 ? "" : `, ${describeCount(othersRunning, "run")} of other clients`;
      return `${running} of ${describeCount(slots, "slot")} in use${others}, ${names.join(", ") || "no model"}`;
    }
    default:
      return state satisfies never;
  }
}
