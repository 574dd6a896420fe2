import type { RuntimeType } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Hardware } from "../../shared/hardware.ts";
import type { Logger } from "../../shared/logger.ts";
import { isAllowed, type OwnerPolicy } from "../../shared/owner-policy.ts";
import { threadsFor, type AgentConfig } from "../config/resolve-agent-config.ts";
import { memoryCapsOf } from "../hardware/memory-caps.ts";
import { ContainerRuntime } from "./container/container-runtime.ts";
import type { EngineSearch } from "./container/engine-address.ts";
import type { ImageStore } from "./container/image-store.ts";
import { coremlRuntime } from "./coreml/coreml-runtime.ts";
import { diffusersRuntime } from "./diffusers/diffusers-runtime.ts";
import { llmcppRuntime } from "./llmcpp/llmcpp-runtime.ts";
import { onnxRuntime } from "./onnx/onnx-runtime.ts";
import type { CargoRuntime } from "./runtime.ts";
import { wasmRuntime } from "./wasm/wasm-runtime.ts";

export interface RuntimesOptions {
  readonly config: AgentConfig;
  readonly hardware: Hardware;
  readonly clock: Clock;
  /** The agent's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** Null: no containers. `islandId` marks this Island's containers, since several Islands may share an engine. */
  readonly containers: { readonly images: Pick<ImageStore, "acquire">; readonly islandId: string } | null;
}

/** A runtime that works on this host. */
export interface UsableRuntime {
  readonly runtime: CargoRuntime;
  readonly version: string;
}

/** Time limit of a probe. */
export const MAX_PROBE_MS = 30_000;
/** Each sequence has its own context in memory; beyond this number memory grows more than throughput. */
const MAX_SEQUENCES = 4;

/** All runtimes of this agent, set up with the owner's caps. Each one's `probe` tells whether it works here. */
export function createRuntimes({ config, hardware, clock, env, log, containers }: RuntimesOptions): CargoRuntime[] {
  const threads = threadsFor(config, hardware.physicalCores ?? hardware.logicalCores);
  const gpu = config.gpu === "auto" ? "auto" : false;
  const { vramBytes } = memoryCapsOf(hardware);
  const common = { threads, clock, environment: env, log };
  const runtimes: CargoRuntime[] = [
    llmcppRuntime({
      ...common,
      gpu,
      vramCapBytes: Number.isFinite(vramBytes) ? vramBytes : null,
      sequences: Math.min(config.slots, MAX_SEQUENCES),
    }),
    onnxRuntime(common),
    diffusersRuntime({ ...common, device: config.gpu === "auto" ? "auto" : "cpu" }),
    coremlRuntime({
      platform: hardware.platform,
      onnx: onnxRuntime({ ...common, device: "coreml" }),
      diffusers: diffusersRuntime({ ...common, device: "coreml" }),
    }),
    wasmRuntime({ ...common, threads: Math.min(threads, config.slots) }),
  ];
  if (containers === null) return runtimes;
  const container = new ContainerRuntime({
    ...containers,
    search: engineSearch(env, hardware),
    clock,
    cpus: threads,
    concurrency: config.slots,
    ramBytes: hardware.ramBytes,
    hasGpu: gpu === "auto" && config.containers.gpu && hardware.gpus.length > 0,
    nameServers: config.containers.nameServers,
    engineRuntime: config.containers.runtime,
    log,
  });
  return [...runtimes, container];
}

/** Inputs of the search for a container engine. */
export function engineSearch(env: RuntimesOptions["env"], { platform }: Pick<Hardware, "platform">): EngineSearch {
  return { environment: env, platform: platform as EngineSearch["platform"] };
}

/** What the owner's settings say about containers with a network. */
export type NetworkState =
  | { readonly kind: "off" | "filtered" }
  | { readonly kind: "refused"; readonly reason: string };

/** Whether containers can have a network that the owner allows: only behind a filter. Makes one, and removes it. */
export async function checkNetwork(
  { containers }: Pick<AgentConfig, "containers">,
  candidates: readonly CargoRuntime[],
): Promise<NetworkState> {
  const runtime = candidates.find((each) => each instanceof ContainerRuntime);
  if (!containers.network || runtime === undefined) return { kind: "off" };
  const reason = await runtime.networkProblem(AbortSignal.timeout(MAX_PROBE_MS)).catch(String);
  return reason === null ? { kind: "filtered" } : { kind: "refused", reason };
}

/** The candidates that the owner allows and whose probe succeeds; for the others the reason is logged. */
export async function usableRuntimes(
  candidates: readonly CargoRuntime[],
  { runtimes }: Pick<OwnerPolicy, "runtimes">,
  log: Logger,
): Promise<Map<RuntimeType, UsableRuntime>> {
  const usable = new Map<RuntimeType, UsableRuntime>();
  for (const runtime of candidates) {
    if (!isAllowed(runtimes, runtime.type)) continue;
    const result = await runtime.probe(AbortSignal.timeout(MAX_PROBE_MS));
    if (result.usable) usable.set(runtime.type, { runtime, version: result.version });
    else log.info({ type: runtime.type, reason: result.reason }, "Runtime cannot be used here");
  }
  return usable;
}
