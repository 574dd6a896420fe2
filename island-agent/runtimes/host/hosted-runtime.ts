import { dirname } from "node:path";
import type { CargoManifest, RuntimeType } from "../../../shared/cargo.ts";
import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { Logger } from "../../../shared/logger.ts";
import type { CargoRuntime, MemoryUse, RunRequest } from "../runtime.ts";
import { BARE, type Sandbox } from "../sandbox/sandbox.ts";
import { type Environment, hostEnvironment } from "./host-environment.ts";
import type { HostProgram } from "./host-process.ts";
import { BatchingCargo, type Batching } from "./batching-cargo.ts";
import { HostedCargo, type HostedCargoOptions } from "./hosted-cargo.ts";
import { DEFAULT_LOAD_LIMITS, type LoadLimits } from "./load-limit.ts";
import { loadInHost, probeInHost } from "./start-host.ts";

/** Options of every runtime whose Cargos run in host processes. */
export interface HostingOptions {
  readonly clock: Clock;
  /** Time before an aborted run or unload is killed with its process. Default 2,000 ms (decision 0033). */
  readonly killAfterMs?: number;
  /** The agent's environment. The host gets only the variables that loaders and drivers need. */
  readonly environment?: Environment;
  /** Sandbox of hosts with native code. Default: none. */
  readonly sandbox?: Sandbox;
  /** Time limits of estimates and loads. */
  readonly limits?: LoadLimits;
  readonly log?: Pick<Logger, "info">;
}

const DEFAULTS: Required<Omit<HostingOptions, "clock">> = {
  killAfterMs: 2_000,
  environment: {},
  sandbox: BARE,
  limits: DEFAULT_LOAD_LIMITS,
  log: { info: () => undefined },
};

/**
 * Definition of one runtime type; the lifecycle is common to all hosted Cargos. `ProbeRequest`, `LoadRequest` and `Job`
 * cross the pipe as JSON; the runtime's host entry passes the same three types to `serveHost`.
 */
interface HostedRuntimeDefinition<ProbeRequest, LoadRequest, Job> {
  readonly type: RuntimeType;
  readonly program: {
    /** Name in messages, such as "llama.cpp". */
    readonly name: string;
    /** Host entry file; see `hostEntry`. */
    readonly entry: URL;
    /** Variables added to those passed on from the agent. */
    readonly environment?: Readonly<Record<string, string>>;
    /** Whether native packages run in the host. If false, it gets no PATH, HOME or driver variables. Default true. */
    readonly isNative?: boolean;
    /** Node flags. `modelPath` is null for a probe. */
    readonly execArgv?: (modelPath: string | null) => readonly string[];
    /** Folders that the host reads in addition to our code and its model. */
    readonly readable?: readonly string[];
    readonly explainCrash?: HostProgram["explainCrash"];
  };
  readonly probeRequest: ProbeRequest;
  /** @throws {JobFailure} when the manifest requires something that this runtime does not support. */
  readonly loadRequest: (cargo: CargoManifest, modelPath: string, adapterPaths: readonly string[]) => LoadRequest;
  /** Omit it if only native code can estimate; the host's `estimate` is then used. @throws {JobFailure} */
  readonly estimate?: (request: LoadRequest) => Promise<MemoryUse>;
  /** Number of runs that one host process works on at the same time, at least 1. */
  readonly concurrency: (request: LoadRequest) => number;
  /** Defines which waiting jobs share a run, which the host gets as a `JobBatch`. Default null: no jobs share a run. */
  readonly batching?: (request: LoadRequest) => Batching | null;
  /** Whether a run can continue the text of an earlier attempt. Default false. */
  readonly canResume?: boolean;
  /**
   * Validates a job's input and converts it into the host's request. @throws {JobFailure} `invalid_input`, naming the
   * first wrong field.
   */
  readonly readInput: (input: RunRequest["input"], request: LoadRequest) => Job;
}

/** A runtime that runs each Cargo in a host process. */
export interface HostedRuntime extends CargoRuntime {
  load(...args: Parameters<CargoRuntime["load"]>): Promise<HostedCargo>;
}

/**
 * Builds a runtime from its definition. A probe and a load each start a host process with the definition's program. A
 * load has a time limit and a memory watch. The process of a load then runs the Cargo's jobs until it is disposed.
 */
export function hostedRuntime<ProbeRequest, LoadRequest, Job>(
  definition: HostedRuntimeDefinition<ProbeRequest, LoadRequest, Job>,
  options: HostingOptions,
): HostedRuntime {
  const { type, program, canResume = false } = definition;
  const hosting = { ...DEFAULTS, ...options };
  const { clock, killAfterMs } = hosting;
  const { name, entry, explainCrash } = program;

  function programFor(modelPath: string | null, others: readonly string[] = []): HostProgram {
    const { environment = {}, isNative = true, execArgv, readable = [] } = program;
    return {
      name,
      entry,
      environment: hostEnvironment(hosting.environment, environment, isNative ? "native" : "plain"),
      sandbox: isNative ? hosting.sandbox : BARE,
      readable: modelPath === null ? readable : [...readable, modelPath, ...others],
      ...(execArgv === undefined ? {} : { execArgv: execArgv(modelPath) }),
      ...(explainCrash === undefined ? {} : { explainCrash }),
    };
  }

  return {
    type,
    probe: (signal) => probeInHost(programFor(null), clock, definition.probeRequest, signal),
    async load(cargo, modelPath, signal, admit, adapterPaths = []) {
      const path = requireModel(cargo, modelPath);
      const request = definition.loadRequest(cargo, path, adapterPaths);
      const { estimate } = definition;
      const estimateHere = estimate === undefined ? undefined : (): Promise<MemoryUse> => estimate(request);
      // All parts of a split model are in the folder of its first file.
      const whole = cargo.parts === undefined ? path : dirname(path);
      const spec = { slug: cargo.slug, modelPath: whole, request, estimate: estimateHere, admit };
      const launched = programFor(path, [...adapterPaths, whole]);
      const { host, memory, ramCeilingBytes } = await loadInHost(launched, hosting, spec, signal);
      const cargoOptions: HostedCargoOptions = {
        memory,
        concurrency: definition.concurrency(request),
        ramCeilingBytes,
        clock,
        killAfterMs,
        canResume,
        readInput: (input) => definition.readInput(input, request),
      };
      const batching = definition.batching?.(request) ?? null;
      return batching === null ? new HostedCargo(host, cargoOptions) : new BatchingCargo(host, cargoOptions, batching);
    },
  };
}

function requireModel({ slug }: CargoManifest, modelPath: string | null): string {
  if (modelPath !== null) return modelPath;
  throw new JobFailure("model_invalid", `Cargo ${slug} has no model`);
}
