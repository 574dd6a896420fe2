import { type HostProgram } from "../../../../island-agent/runtimes/host/host-process.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../../island-agent/runtimes/host/load-limit.ts";
import { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { loadInHost } from "../../../../island-agent/runtimes/host/start-host.ts";
import type { RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import { systemClock } from "../../../../shared/clock.ts";

/** What a scripted host does when it loads. */
export interface LoadWord {
  readonly stderr?: string;
  readonly signal?: NodeJS.Signals;
  readonly eatBytes?: number;
}

/** What it does with a job. Runs are numbered from 1. */
export interface HostWord {
  readonly messages?: readonly unknown[];
  /** Written to the channel as it is. */
  readonly raw?: string;
  /** One message without end. */
  readonly floodsChannel?: boolean;
  readonly eatBytes?: number;
}

export const NEVER = new AbortController().signal;
export const SCRIPTED: HostProgram = {
  name: "Scripted",
  entry: new URL("./scripted-host.ts", import.meta.url),
  environment: {},
};
export const MEMORY = { ramBytes: 1, vramBytes: 0 };
export const RESULT = { finishReason: "stop", usage: { promptTokens: 0, completionTokens: 1 } } as const;
export const finished = (run: number) => ({ kind: "finished", run, result: RESULT, memory: MEMORY });

/** A Cargo of two runs at once in a scripted host. */
export async function loadScripted(load: LoadWord = {}, ramCeilingBytes?: number): Promise<HostedCargo<HostWord>> {
  const spec = { slug: "scripted", modelPath: "", load, ramCeilingBytes };
  const loads = { clock: systemClock, limits: DEFAULT_LOAD_LIMITS, log: () => {} };
  const { host, memory } = await loadInHost(SCRIPTED, loads, spec, NEVER);
  const readInput = (input: unknown): HostWord => input as HostWord;
  const common = { clock: systemClock, killAfterMs: 1_000 };
  return new HostedCargo(host, { ...common, memory, concurrency: 2, ramCeilingBytes, readInput });
}

export function tell(cargo: HostedCargo<HostWord>, word: HostWord, items: unknown[] = []): Promise<RunResult> {
  const running = cargo.run({ input: { ...word }, resume: null }, (item) => items.push(item), NEVER);
  running.catch(() => {});
  return running;
}
