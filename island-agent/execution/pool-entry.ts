import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import type { Timer } from "../../shared/clock.ts";
import type { ArtifactLease } from "../artifacts/artifact-store.ts";
import type { LoadedCargo, MemoryUse } from "../runtimes/runtime.ts";
import type { Occupant } from "./memory-budget.ts";

/** A Cargo of the pool, from the first job that needs it to its unload. */
export interface Entry extends Occupant {
  readonly manifest: CargoManifest;
  readonly key: string;
  /** Aborts the load when no job waits for it. */
  readonly stopLoading: AbortController;
  readonly loading: Promise<LoadedCargo>;
  estimate: MemoryUse;
  /** Grows with the download. */
  steps: number;
  /** When its files were there (monotonic ms); null before. From then on, waits and load have limits of their own. */
  readySinceMs: number | null;
  /** Set once, from the first estimate: growth that jobs caused must not raise it. */
  ramCeilingBytes: number;
  users: number;
  lastUse: number;
  /** Unloads it when it has been idle for long. */
  idleTimer: Timer | null;
  loaded: LoadedCargo | null;
  files: ArtifactLease | null;
  isLeaving: boolean;
}

/** The whole manifest: a Cargo whose definition changed is a different one. */
export function keyOf(manifest: CargoManifest): string {
  return JSON.stringify(manifest);
}

/** A utility loads in a twentieth of a second, and each one that was ever used would keep a process. */
const IDLE_LIMITS_MS: Partial<Record<RuntimeType, number>> = { wasm: 60_000 };

/** How long a Cargo stays in memory without a job; undefined: until its memory is needed. */
export function idleLimitMs({ runtimeType, keepAliveMs }: CargoManifest): number | undefined {
  return keepAliveMs ?? IDLE_LIMITS_MS[runtimeType];
}
