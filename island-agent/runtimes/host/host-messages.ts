import type { RunRequest } from "../runtime.ts";

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
