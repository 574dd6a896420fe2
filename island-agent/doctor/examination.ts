import { RUNTIME_TYPES, type RuntimeType } from "../../shared/cargo.ts";
import type { DiskState } from "../disk/describe-disk.ts";
import type { Hardware } from "../../shared/hardware.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { AgentStatus } from "../execution/island-reports.ts";
import type { NetworkState } from "../runtimes/create-runtimes.ts";
import type { ProbeResult } from "../runtimes/runtime.ts";
import type { SandboxState } from "../runtimes/sandbox/choose-sandbox.ts";
import type { ExaminedEngine } from "./engine-check.ts";

/** A measurement, or the reason why it is missing. */
export type Measured<T> = T | { readonly problem: string };

export interface TokenRate {
  readonly tokensPerSecond: number;
  /** File name of the model, such as "tiny-islander.gguf". */
  readonly model: string;
}

export interface MatrixRate {
  /** Speed of 32-bit products of square matrices, in 10^9 floating-point operations a second. */
  readonly gigaflops: number;
  /** Number of rows of the matrices. */
  readonly size: number;
}

export interface CoordinatorState {
  readonly url: string;
  /** Median time of a small request, in ms. */
  readonly latencyMs: number;
  /** The pinned key in base64; null if no key is pinned. */
  readonly pinnedKey: string | null;
  /** Problem of the key, with advice; null if the key is the pinned one. */
  readonly keyProblem: string | null;
  /** Problem of the token, with advice; null if the token is accepted and belongs to the stored account. */
  readonly tokenProblem: string | null;
}

export interface ExaminedRuntime {
  readonly type: RuntimeType;
  readonly probe: ProbeResult;
  /**
   * Reason why the agent that runs on this data directory does not offer it; missing when the agent offers it or none
   * runs.
   */
  readonly agentProblem?: string;
}

/** Results of `island doctor`. */
export interface Examination {
  readonly runtimes: readonly ExaminedRuntime[];
  readonly engines: readonly ExaminedEngine[];
  readonly sandbox: SandboxState;
  /** The owner's policy. `network`: whether containers can have a network, and why not. */
  readonly rules: { readonly policy: OwnerPolicy; readonly network: NetworkState };
  readonly hardware: Hardware;
  /** CPU threads that a job may use. */
  readonly threads: number;
  /** RAM of the machine that Cargos cannot use. */
  readonly ownersRamBytes: number;
  readonly disk: DiskState;
  readonly availability: {
    readonly isPaused: boolean;
    /** Open hours as in the settings; null for day and night. */
    readonly hours: string | null;
    /** Reason why no new jobs are accepted now; null while new jobs are accepted. */
    readonly closedBecause: string | null;
  };
  /** Status of the agent that runs on this data directory; null if none runs. */
  readonly agent: {
    readonly slots: number;
    readonly slotsBusy: number;
    readonly memoryCaps: AgentStatus["memoryCaps"];
  } | null;
  /** Null if the Island has not joined a coordinator. */
  readonly coordinator: Measured<CoordinatorState> | null;
  /** Further configured addresses of the network. */
  readonly otherCoordinators: readonly Measured<CoordinatorState>[];
  readonly tokens: Measured<TokenRate>;
  readonly matrix: Measured<MatrixRate>;
}

/** Lists the types that the agent itself runs, including those that were not probed because the owner disabled them. */
export function listRuntimes(
  probes: ReadonlyMap<RuntimeType, ProbeResult>,
  agentProblems: ReadonlyMap<RuntimeType, string> = new Map(),
): Examination["runtimes"] {
  return RUNTIME_TYPES.filter((type) => type !== "engine").map((type) => {
    const agentProblem = agentProblems.get(type);
    const probe = probes.get(type) ?? switchedOff(type);
    return { type, probe, ...(agentProblem === undefined ? {} : { agentProblem }) };
  });
}

function switchedOff(type: RuntimeType): ProbeResult {
  // Only containers can be disabled by a setting.
  const reason = type === "container" ? "containers.enabled is false" : "not included in this agent";
  return { usable: false, reason };
}

/** Returns whether at least one runtime or engine is usable. */
export function isFit({ runtimes, engines }: Examination): boolean {
  return runtimes.some(({ probe }) => probe.usable) || engines.some(({ problem }) => problem === null);
}

export function isProblem<T>(measured: Measured<T>): measured is { readonly problem: string } {
  return typeof measured === "object" && measured !== null && "problem" in measured;
}
