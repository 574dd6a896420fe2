import type { HostProgram } from "../../../../island-agent/runtimes/host/host-process.ts";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { hostedRuntime } from "../../../../island-agent/runtimes/host/hosted-runtime.ts";
import type { RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import type { CargoManifest } from "../../../../shared/cargo.ts";
import { systemClock } from "../../../../shared/clock.ts";

/** Behaviour of a scripted host while it loads. */
export interface LoadScript {
  readonly stderr?: string;
  readonly signal?: NodeJS.Signals;
  readonly eatBytes?: number;
}

/** Behaviour of a scripted host during a job. Runs are numbered from 1. */
export interface RunScript {
  readonly messages?: readonly unknown[];
  /** Text that the host writes to the channel unchanged. */
  readonly raw?: string;
  /** Whether the host sends one endless message. */
  readonly floodsChannel?: boolean;
  readonly eatBytes?: number;
}

export const NEVER = new AbortController().signal;
export const SCRIPTED: HostProgram = {
  name: "Scripted",
  entry: new URL("./scripted-host.ts", import.meta.url),
  environment: {},
};
const CARGO: CargoManifest = {
  slug: "scripted",
  runtimeType: "onnx",
  onnxTaskType: null,
  model: null,
  requiredRamBytes: 0,
  requiredVramBytes: 0,
  contextTokens: null,
};
export const MEMORY = { ramBytes: 1, vramBytes: 0 };
export const RESULT = { finishReason: "stop", usage: { promptTokens: 0, completionTokens: 1 } } as const;
export const finished = (run: number) => ({ kind: "finished", run, result: RESULT, memory: MEMORY });

/** A Cargo in a scripted host that works on two runs at the same time. */
export async function loadScripted(load: LoadScript = {}, ramCeilingBytes?: number): Promise<HostedCargo> {
  const { name, entry } = SCRIPTED;
  const runtime = hostedRuntime<null, LoadScript, RunScript>(
    {
      type: "onnx",
      program: { name, entry },
      probeRequest: null,
      loadRequest: () => load,
      concurrency: () => 2,
      readInput: (input) => input,
    },
    { clock: systemClock, killAfterMs: 1_000 },
  );
  return runtime.load(CARGO, "", NEVER, ramCeilingBytes === undefined ? undefined : async () => ramCeilingBytes);
}

export function runScript(cargo: HostedCargo, word: RunScript, items: unknown[] = []): Promise<RunResult> {
  const running = cargo.run({ input: { ...word }, resume: null }, (item) => items.push(item), NEVER);
  running.catch(() => {});
  return running;
}
