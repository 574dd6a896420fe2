import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";

/** A utility loads in a twentieth of a second, and each one that was ever used would keep a process. */
const IDLE_LIMITS_MS: Partial<Record<RuntimeType, number>> = { wasm: 60_000 };

/** How long a Cargo stays in memory without a job; undefined: until its memory is needed. */
export function idleLimitMs({ runtimeType, keepAliveMs }: CargoManifest): number | undefined {
  return keepAliveMs ?? IDLE_LIMITS_MS[runtimeType];
}
