import type { RuntimeType } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Hardware } from "../../shared/hardware.ts";
import type { Logger } from "../../shared/logger.ts";
import { threadsFor, type AgentConfig } from "../config/resolve-agent-config.ts";
import { memoryCapsOf } from "../execution/memory-budget.ts";
import { ContainerRuntime } from "./container/container-runtime.ts";
import type { EngineSearch } from "./container/engine-address.ts";
import type { ImageStore } from "./container/image-store.ts";
import { CoremlRuntime } from "./coreml/coreml-runtime.ts";
import { DiffusersRuntime } from "./diffusers/diffusers-runtime.ts";
import { LlmcppRuntime } from "./llmcpp/llmcpp-runtime.ts";
import { OnnxRuntime } from "./onnx/onnx-runtime.ts";
import type { CargoRuntime } from "./runtime.ts";
import { WasmRuntime } from "./wasm/wasm-runtime.ts";

export interface RuntimesOptions {
  readonly config: AgentConfig;
  readonly hardware: Hardware;
  readonly clock: Clock;
  /** The agent's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** Null: no containers. `islandId` tells this Island's containers from another's on the same engine. */
  readonly containers: { readonly images: Pick<ImageStore, "acquire">; readonly islandId: string } | null;
}

/** A runtime that this host can use. */
export interface UsableRuntime {
  readonly runtime: CargoRuntime;
  readonly version: string;
}

/** How long a runtime may take to say whether it works here. */
export const PROBE_LIMIT_MS = 30_000;
/** More jobs of one language model at once take more memory than they gain. */
const MOST_SEQUENCES = 4;

/** Every runtime that this agent knows, set up within the owner's caps; whether each works here is for its `probe` to say. */
export function createRuntimes({ config, hardware, clock, env, log, containers }: RuntimesOptions): CargoRuntime[] {
  const threads = threadsFor(config, hardware.physicalCores ?? hardware.logicalCores);
  const gpu = config.gpu === "auto" ? "auto" : false;
  const { vramBytes } = memoryCapsOf(hardware);
  const common = {
    threads,
    clock,
    environment: env,
    log: (message: string, facts: Readonly<Record<string, unknown>>) => log.info(facts, message),
  };
  const runtimes: CargoRuntime[] = [
    new LlmcppRuntime({
      ...common,
      gpu,
      vramCapBytes: Number.isFinite(vramBytes) ? vramBytes : null,
      sequences: Math.min(config.slots, MOST_SEQUENCES),
    }),
    new OnnxRuntime(common),
    new DiffusersRuntime({ ...common, device: config.gpu === "auto" ? "auto" : "cpu" }),
    new CoremlRuntime({
      platform: hardware.platform,
      onnx: new OnnxRuntime({ ...common, device: "coreml" }),
      diffusers: new DiffusersRuntime({ ...common, device: "coreml" }),
    }),
    new WasmRuntime({ ...common, threads: Math.min(threads, config.slots) }),
  ];
  if (containers === null) return runtimes;
  const container = new ContainerRuntime({
    ...containers,
    search: engineSearch(env, hardware),
    clock,
    cpus: threads,
    concurrency: config.slots,
    ramBytes: hardware.ramBytes,
    hasGpu: gpu === "auto" && hardware.gpus.length > 0,
    log: common.log,
  });
  return [...runtimes, container];
}

/** Where to look for a container engine. */
export function engineSearch(env: RuntimesOptions["env"], { platform }: Pick<Hardware, "platform">): EngineSearch {
  return { environment: env, platform: platform as EngineSearch["platform"] };
}

/** Those that can be used; why the others cannot is logged. */
export async function usableRuntimes(
  candidates: readonly CargoRuntime[],
  log: Logger,
): Promise<Map<RuntimeType, UsableRuntime>> {
  const usable = new Map<RuntimeType, UsableRuntime>();
  for (const runtime of candidates) {
    const result = await runtime.probe(AbortSignal.timeout(PROBE_LIMIT_MS));
    if (result.usable) usable.set(runtime.type, { runtime, version: result.version });
    else log.info({ type: runtime.type, reason: result.reason }, "Runtime cannot be used here");
  }
  return usable;
}
