import type { RuntimeType } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { JobFailure } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { isAllowed } from "../../shared/owner-policy.ts";
import { policyOf } from "../config/owner-policy.ts";
import { threadsFor, type AgentConfig } from "../config/resolve-agent-config.ts";
import { detectHardware } from "../hardware/detect-hardware.ts";
import { systemProbe } from "../hardware/host-probe.ts";
import { readModelIndex } from "../models/store/model-index.ts";
import { modelDirectoryOf } from "../artifacts/open-stores.ts";
import { checkNetwork, createRuntimes, findSandbox } from "../runtimes/create-runtimes.ts";
import { MAX_PROBE_MS } from "../runtimes/runtime-probes.ts";
import { getFromAgent } from "../control/control-client.ts";
import type { CargoRuntime, ProbeResult } from "../runtimes/runtime.ts";
import { checkAvailability, type RunningAgent } from "./availability-check.ts";
import { checkCoordinator } from "./coordinator-check.ts";
import { checkEngines } from "./engine-check.ts";
import { listRuntimes, type Examination, type Measured } from "./examination.ts";
import { measureMatrix, measureTokens } from "./measure-speed.ts";

export interface ExamineOptions {
  readonly dataDirectory: string;
  readonly config: AgentConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  /** GGUF file that measures tokens per second. */
  readonly modelPath: string;
  /** Called with the name of the next step for the user, such as "the runtime llmcpp". */
  readonly onStep: (what: string) => void;
}

/**
 * Image store that pulls nothing. The doctor only checks that the engine is available, and does not touch the
 * containers of a running agent.
 */
const NO_IMAGES = {
  acquire: () => Promise.reject(new JobFailure("runtime_unavailable", "The doctor does not pull images")),
};

/** Checks what this host can run, and how fast. Safe while an agent runs, but its jobs reduce the measured speed. */
export async function examine(options: ExamineOptions): Promise<Examination> {
  const { dataDirectory, config, clock, env, log, modelPath, onStep } = options;
  const [firstUrl, ...otherUrls] = config.coordinator.apiUrls ?? [];
  const modelDirectory = modelDirectoryOf(dataDirectory);
  const { diskBudgetBytes, minFreeBytes } = config.models;
  const { hardware: overrides, caps } = config;
  onStep("the hardware");
  const hardware = await detectHardware({ overrides, caps, modelDirectory, diskBudgetBytes });
  onStep("the sandbox");
  const sandbox = await findSandbox({ config, hardware, env });
  const candidates = createRuntimes({
    dataDirectory,
    config,
    hardware,
    clock,
    env,
    log,
    sandbox,
    containers: config.containers.enabled ? { images: NO_IMAGES, islandId: "doctor" } : null,
  });
  const network = await checkNetwork(config, candidates);
  const policy = policyOf(config, network.kind === "filtered");
  const probes = new Map<RuntimeType, ProbeResult>();
  const usable = new Map<RuntimeType, CargoRuntime>();
  for (const runtime of candidates) {
    onStep(`the runtime ${runtime.type}`);
    const probe = isAllowed(policy.runtimes, runtime.type)
      ? await runtime.probe(AbortSignal.timeout(MAX_PROBE_MS))
      : { usable: false as const, reason: "excluded by cargos.allow_runtimes or cargos.deny_runtimes" };
    probes.set(runtime.type, probe);
    if (probe.usable) usable.set(runtime.type, runtime);
  }
  const stored = await readModelIndex(modelDirectory).catch(() => null);
  // Without a reply from an agent, the settings are shown.
  const running = (await getFromAgent<RunningAgent>(dataDirectory, "/status").catch(() => null)) ?? null;
  onStep("the engines");
  const engines = await checkEngines(config, running?.engines ?? []);
  onStep("the connection to the coordinator");
  const coordinator = firstUrl === undefined ? null : await checkCoordinator(firstUrl, config.coordinator, clock);
  const otherCoordinators = await Promise.all(otherUrls.map((url) => checkCoordinator(url, config.coordinator, clock)));
  // In sequence, because they would slow each other down.
  onStep("the speed of a language model");
  const tokens = await measured(usable.get("llmcpp"), (runtime) => measureTokens(runtime, modelPath, clock));
  onStep("the speed of matrix products");
  const matrix = await measured(usable.get("onnx"), (runtime) => measureMatrix(runtime, clock));
  return {
    runtimes: listRuntimes(probes, new Map(running?.unusable?.map(({ type, reason }) => [type, reason]))),
    engines,
    sandbox: sandbox.state,
    rules: { policy, network },
    hardware,
    threads: threadsFor(config, hardware.physicalCores ?? hardware.logicalCores),
    ownersRamBytes: Math.max(0, (overrides.ramBytes ?? systemProbe.totalRamBytes()) - hardware.ramBytes),
    disk: {
      usedBytes: stored?.reduce((sum, { bytes }) => sum + bytes, 0) ?? null,
      budgetBytes: hardware.diskBudgetBytes,
      freeBytes: hardware.diskFreeBytes,
      minFreeBytes,
    },
    availability: await checkAvailability(dataDirectory, config.hours, clock, running),
    agent:
      running === null
        ? null
        : { slots: running.slots, slotsBusy: running.running.length, memoryCaps: running.memoryCaps },
    coordinator,
    otherCoordinators,
    tokens,
    matrix,
  };
}

async function measured<T>(
  runtime: CargoRuntime | undefined,
  measure: (runtime: CargoRuntime) => Promise<Measured<T>>,
): Promise<Measured<T>> {
  return runtime === undefined ? { problem: "the runtime is not usable" } : measure(runtime);
}
