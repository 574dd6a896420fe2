import type { Clock } from "../../shared/clock.ts";
import type { Hardware } from "../../shared/hardware.ts";
import type { Logger } from "../../shared/logger.ts";
import { slotsFor, threadsFor, type AgentConfig } from "../config/resolve-agent-config.ts";
import { memoryCapsOf } from "../hardware/memory-caps.ts";
import { ContainerRuntime, type ContainerLimits } from "./container/container-runtime.ts";
import type { EngineSearch } from "./container/engine-address.ts";
import type { ImageStore } from "./container/image-store.ts";
import { coremlRuntime } from "./coreml/coreml-runtime.ts";
import { diffusersRuntime } from "./diffusers/diffusers-runtime.ts";
import { backEndFolder } from "./llmcpp/back-ends.ts";
import { spawnedRuntime } from "./engine/spawned-engine.ts";
import { llmcppRuntime } from "./llmcpp/llmcpp-runtime.ts";
import { onnxRuntime } from "./onnx/onnx-runtime.ts";
import type { CargoRuntime } from "./runtime.ts";
import { MAX_PROBE_MS } from "./runtime-probes.ts";
import { chooseSandbox, findProgram, type SandboxChoice } from "./sandbox/choose-sandbox.ts";
import { BARE } from "./sandbox/sandbox.ts";
import { MAPPING_ALLOWANCE_BYTES } from "./sandbox/memory-limit.ts";
import { wasmRuntime } from "./wasm/wasm-runtime.ts";

interface RuntimesOptions {
  /** Data directory, which holds the back ends that the owner has added. */
  readonly dataDirectory: string;
  readonly config: AgentConfig;
  readonly hardware: Hardware;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly sandbox: SandboxChoice;
  /** Null disables containers. `islandId` marks this Island's containers, since several Islands may share an engine. */
  readonly containers: { readonly images: Pick<ImageStore, "acquire">; readonly islandId: string } | null;
}

/** Maximum number of sequences. Each has its own context; beyond this number memory grows more than throughput. */
const MAX_SEQUENCES = 4;

/** Creates all runtimes of this agent with the owner's caps. `probe` tests whether a runtime works here. */
export function createRuntimes({
  dataDirectory,
  config,
  hardware,
  clock,
  env,
  log,
  sandbox,
  containers,
}: RuntimesOptions): CargoRuntime[] {
  const threads = threadsFor(config, hardware.physicalCores ?? hardware.logicalCores);
  const gpu = config.gpu === "auto" ? "auto" : false;
  const { vramBytes } = memoryCapsOf(hardware);
  const common = { threads, clock, environment: env, log };
  const usesGpu = config.gpu === "auto";
  const inSandbox = (gpu: boolean, mayFork: boolean) => {
    return { ...common, ...(sandbox.open === null ? {} : { sandbox: sandbox.open({ gpu, mayFork }) }) };
  };
  const sequences = Math.min(slotsFor(config), MAX_SEQUENCES);
  const llmcpp = llmcppRuntime({
    // node-llama-cpp tests its binary in a separate process.
    ...inSandbox(usesGpu, true),
    gpu,
    backEnds: backEndFolder(dataDirectory),
    vramCapBytes: Number.isFinite(vramBytes) ? vramBytes : null,
    sequences,
  });
  const { command } = config.engines;
  const spawning = command && {
    ...{ command, clock, log, environment: env, slots: config.engines.slots ?? sequences },
    program: findProgram(command[0] ?? "", env),
    setpriv: hardware.platform === "linux" ? findProgram("setpriv", env) : null,
    sandbox:
      sandbox.open?.({
        gpu: usesGpu,
        mayFork: true,
        network: command.some((word) => word.includes("{port}")),
      }) ?? BARE,
  };
  const native: CargoRuntime[] = [
    spawning === null ? llmcpp : spawnedRuntime(spawning, llmcpp),
    onnxRuntime(inSandbox(false, false)),
    diffusersRuntime({ ...inSandbox(usesGpu, false), device: config.gpu === "auto" ? "auto" : "cpu" }),
    coremlRuntime({
      platform: hardware.platform,
      onnx: onnxRuntime({ ...inSandbox(true, false), device: "coreml" }),
      diffusers: diffusersRuntime({ ...inSandbox(true, false), device: "coreml" }),
    }),
  ];
  const runtimes = [
    ...(sandbox.open === null ? native.map((runtime) => refusedFor(sandbox.state.summary, runtime)) : native),
    wasmRuntime({ ...common, threads: Math.min(threads, slotsFor(config)) }),
  ];
  if (containers === null) return runtimes;
  const container = new ContainerRuntime({
    ...containers,
    search: engineSearch(env, hardware),
    clock,
    ...containerLimitsOf(config, hardware),
    hasGpu: gpu === "auto" && config.containers.gpu && hardware.gpus.length > 0,
    gpuDevices: config.containers.gpuDevices,
    nameServers: config.containers.nameServers,
    engineRuntime: config.containers.runtime,
    log,
  });
  return [...runtimes, container];
}

export function containerLimitsOf(config: AgentConfig, hardware: Hardware): ContainerLimits {
  const cpus = threadsFor(config, hardware.physicalCores ?? hardware.logicalCores);
  return { cpus, concurrency: slotsFor(config), ramBytes: hardware.ramBytes };
}

/** Finds the sandbox for native runtimes on this machine. */
export function findSandbox({
  config,
  hardware,
  env,
}: Pick<RuntimesOptions, "config" | "hardware" | "env">): Promise<SandboxChoice> {
  return chooseSandbox({
    setting: config.sandbox,
    platform: hardware.platform,
    environment: env,
    gpu: config.gpu === "auto",
    memoryLimitBytes: memoryCapsOf(hardware).ramBytes + MAPPING_ALLOWANCE_BYTES,
  });
}

/** Returns the runtime with a probe that always fails: the owner requires a sandbox, and none is available. */
function refusedFor(reason: string, runtime: CargoRuntime): CargoRuntime {
  return { ...runtime, probe: () => Promise.resolve({ usable: false, reason, isFinal: true }) };
}

export function engineSearch(env: RuntimesOptions["env"], { platform }: Pick<Hardware, "platform">): EngineSearch {
  return { environment: env, platform: platform as EngineSearch["platform"] };
}

/** Result of the network check for containers. */
export type NetworkState =
  | { readonly kind: "off" | "filtered" }
  | { readonly kind: "refused"; readonly reason: string };

/** Checks whether containers can have a filtered network, the only kind that is allowed. Creates one and removes it. */
export async function checkNetwork(
  { containers }: Pick<AgentConfig, "containers">,
  candidates: readonly CargoRuntime[],
): Promise<NetworkState> {
  const runtime = candidates.find((each) => each instanceof ContainerRuntime);
  if (!containers.network || runtime === undefined) return { kind: "off" };
  const reason = await runtime.networkProblem(AbortSignal.timeout(MAX_PROBE_MS)).catch(String);
  return reason === null ? { kind: "filtered" } : { kind: "refused", reason };
}
