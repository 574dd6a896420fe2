import type { RuntimeType } from "../../shared/cargo.ts";
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
  /** Null: none is set. */
  readonly tokenProblem: string | null;
}

/** What `island doctor` found. */
export interface Examination {
  readonly runtimes: readonly { readonly type: RuntimeType; readonly probe: ProbeResult }[];
  readonly hardware: Hardware;
  /** CPU threads that a job may use. */
  readonly threads: number;
  readonly disk: { readonly usedBytes: number | null; readonly budgetBytes: number; readonly freeBytes: number | null };
  /** Null: the Island has not joined one. */
  readonly coordinator: Measured<CoordinatorState> | null;
  readonly tokens: Measured<TokenRate>;
  readonly matrix: Measured<MatrixRate>;
}

/** Whether the host can run anything. */
export function isFit({ runtimes }: Examination): boolean {
  return runtimes.some(({ probe }) => probe.usable);
}

export function isProblem<T>(measured: Measured<T>): measured is { readonly problem: string } {
  return typeof measured === "object" && measured !== null && "problem" in measured;
}
