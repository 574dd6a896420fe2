import type { JobError } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import type { MemoryUse, ProbeResult, RunRequest, RunResult } from "../runtime.ts";

/** One job of a host process. `job`: what the runtime made of the client's input. */
export interface HostRun<Job> {
  readonly job: Job;
  readonly resume: RunRequest["resume"];
}

/** Agent to host process. `run` is a number that the agent chooses, unique in the life of the host. */
export type ToHost<Probe, Load, Job> =
  | { readonly kind: "probe"; readonly order: Probe }
  /** What would `load` take? */
  | { readonly kind: "estimate"; readonly order: Load }
  | { readonly kind: "load"; readonly order: Load }
  | ({ readonly kind: "run"; readonly run: number } & HostRun<Job>)
  | { readonly kind: "abort"; readonly run: number }
  /** Free everything and end. */
  | { readonly kind: "end" };

/** Any order: what carries them does not look inside. */
export type AnyToHost = ToHost<unknown, unknown, unknown>;

/** Output of one run that came in one turn of the host's event loop. */
export interface RunOutput {
  readonly run: number;
  readonly items: readonly OutputItem[];
}

/** Host process to agent. Each `run` gets exactly one of `finished`, `failed` and `aborted`, after its last output. */
export type FromHost =
  | { readonly kind: "probed"; readonly result: ProbeResult }
  | { readonly kind: "estimated"; readonly memory: MemoryUse }
  /** `facts` are for the log. */
  | { readonly kind: "loaded"; readonly memory: MemoryUse; readonly facts: Readonly<Record<string, unknown>> }
  /** The order, to estimate or to load, could not be carried out. */
  | { readonly kind: "load_failed"; readonly error: JobError }
  | { readonly kind: "output"; readonly outputs: readonly RunOutput[] }
  | { readonly kind: "finished"; readonly run: number; readonly result: RunResult; readonly memory: MemoryUse }
  | { readonly kind: "failed"; readonly run: number; readonly error: JobError }
  | { readonly kind: "aborted"; readonly run: number };
