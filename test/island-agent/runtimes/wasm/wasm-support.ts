import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import type { HostedRuntime } from "../../../../island-agent/runtimes/host/hosted-runtime.ts";
import type { RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import { wasmRuntime, type WasmOptions } from "../../../../island-agent/runtimes/wasm/wasm-runtime.ts";
import type { CargoManifest } from "../../../../shared/cargo.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { MIB } from "../../../../shared/format-bytes.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { makeWasmProgram } from "../../../support/models/wasm-program.ts";

const PROCESS_BYTES = 192 * MIB;
export const NEVER = new AbortController().signal;
export const DONE = 'say(`{"type":"done"}`);';

/** Folder of the modules of the current test file. */
export let folder: string;

/** Creates the folder for modules. Each file must call it once. */
export function useModuleFolder(): void {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "atoll-wasm-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
}

export async function store(name: string, module: Uint8Array): Promise<string> {
  const file = join(folder, `${name}.wasm`);
  await writeFile(file, module);
  return file;
}
export const makeRuntime = (options: Partial<WasmOptions> = {}): HostedRuntime =>
  wasmRuntime({ threads: 2, clock: systemClock, ...options });
export const makeCargo = (capMib = 4, more: Partial<CargoManifest> = {}): CargoManifest => ({
  slug: "program",
  runtimeType: "wasm",
  onnxTaskType: null,
  model: null,
  requiredRamBytes: PROCESS_BYTES + capMib * MIB,
  requiredVramBytes: 0,
  contextTokens: null,
  ...more,
});

let programs = 0;
export async function load(body: string, outside = "", capMib = 4): Promise<HostedCargo> {
  programs += 1;
  const file = await store(`program-${programs}`, await makeWasmProgram(body, outside));
  return makeRuntime().load(makeCargo(capMib), file, NEVER);
}
export async function run(
  cargo: HostedCargo,
  input: Record<string, unknown> = {},
  signal = NEVER,
): Promise<{ items: OutputItem[]; result: RunResult }> {
  const items: OutputItem[] = [];
  const result = await cargo.run({ input, resume: null }, (item) => items.push(item), signal);
  return { items, result };
}
/** Loads a program, runs it once and ends it. */
export async function once(
  body: string,
  outside = "",
  capMib = 4,
): Promise<{ items: OutputItem[]; result: RunResult }> {
  await using cargo = await load(body, outside, capMib);
  return await run(cargo);
}

export const TALKER = `
  const text = input();
  if (text.includes("refuse")) { say('{"type":"error","message":"no"}'); return; }
  say('{"type":"token","content":"a"}');
  while (text.includes("long")) { turns += 1; }
  say('{"type":"done","output":{"n":1}}');
`;
