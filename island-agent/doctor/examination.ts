import { RUNTIME_TYPES, type RuntimeType } from "../../shared/cargo.ts";
import type { Hardware } from "../../shared/hardware.ts";
import type { ProbeResult } from "../runtimes/runtime.ts";

/** A figure that was measured, or why it was not. */
export type Measured<T> = T | { readonly problem: string };

export interface TokenRate {
  readonly tokensPerSecond: number;
  /** What answered: "tiny-islander.gguf". */
  readonly model: string;
}

export interface MatrixRate {
  /** 32-bit products of square matrices, in 10^9 floating-point operations a second. */
  readonly gigaflops: number;
  /** Rows of the matrices. */
  readonly size: number;
}

export interface CoordinatorState {
  readonly url: string;
  /** Median time of a small request, in ms. */
  readonly latencyMs: number;
  /** Base64; null: none is pinned. */
  readonly pinnedKey: string | null;
  /** Why nothing that this coordinator signs can run here, and what to do; null: its key is the pinned one. */
  readonly keyProblem: string | null;
  /** Null: it is accepted, as one of the account that was pinned. */
  readonly tokenProblem: string | null;
}

/** What `island doctor` found. */
export interface Examination {
  readonly runtimes: readonly { readonly type: RuntimeType; readonly probe: ProbeResult }[];
  readonly hardware: Hardware;
  /** CPU threads that a job may use. */
  readonly threads: number;
  readonly disk: { readonly usedBytes: number | null; readonly budgetBytes: number; readonly freeBytes: number | null };
  readonly availability: {
    readonly isPaused: boolean;
    /** As they are set; null: day and night. */
    readonly hours: string | null;
    /** Why no new jobs are taken now; null where they are. */
    readonly closedBecause: string | null;
  };
  /** Null: the Island has not joined one. */
  readonly coordinator: Measured<CoordinatorState> | null;
  readonly tokens: Measured<TokenRate>;
  readonly matrix: Measured<MatrixRate>;
}

/** Every type, also those that were not probed as the owner switched them off. */
export function listRuntimes(probes: ReadonlyMap<RuntimeType, ProbeResult>): Examination["runtimes"] {
  return RUNTIME_TYPES.map((type) => ({ type, probe: probes.get(type) ?? switchedOff(type) }));
}

function switchedOff(type: RuntimeType): ProbeResult {
  // Only containers have a setting of their own.
  const reason = type === "container" ? "containers.enabled is false" : "this agent does not have it";
  return { usable: false, reason };
}

/** Whether the host can run anything. */
export function isFit({ runtimes }: Examination): boolean {
  return runtimes.some(({ probe }) => probe.usable);
}

export function isProblem<T>(measured: Measured<T>): measured is { readonly problem: string } {
  return typeof measured === "object" && measured !== null && "problem" in measured;
}
