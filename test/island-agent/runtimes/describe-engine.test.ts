import { expect, it } from "vitest";
import type { EngineStatus } from "../../../island-agent/runtimes/engine/attached-engine.ts";
import { describeEngine } from "../../../island-agent/runtimes/engine/describe-engine.ts";

const READY: EngineStatus = {
  url: "http://127.0.0.1:11434",
  name: "Ollama",
  state: "ready",
  models: ["qwen3:8b", "mine"],
  declared: ["mine"],
  slots: 4,
  running: 2,
  othersRunning: 0,
  problem: null,
  pauseMs: null,
};

it.each([
  [{}, "2 of 4 slots in use, qwen3:8b, mine (declared)"],
  [{ slots: 1, running: 0, othersRunning: 1, models: [] }, "0 of 1 slot in use, 1 run of other clients, no model"],
  [{ state: "paused", pauseMs: 29_500, problem: "out of memory" }, "paused for 30 s: out of memory"],
  [{ state: "unavailable", problem: "it does not respond" }, "unavailable: it does not respond"],
  [{ state: "checking" }, "not checked yet"],
] as const)("describeEngine(%j) returns the state: %s", (change, expected) => {
  expect(describeEngine({ ...READY, ...change })).toBe(`Ollama at http://127.0.0.1:11434: ${expected}`);
});
