import { LRUCache } from "lru-cache";
import type { CargoManifest } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { JobFailure } from "../../shared/errors.ts";
import { formatMibRoundedDown, formatMibRoundedUp, GIB } from "../../shared/format-bytes.ts";
import type { MemoryUse } from "../runtimes/runtime.ts";

/** Memory that a Cargo takes, and the RAM at which its process is killed. */
interface MemoryNeed {
  readonly memory: MemoryUse;
  readonly ramCeilingBytes: number;
}

interface Measured extends MemoryNeed {
  /** Monotonic time of the measurement. */
  readonly atMs: number;
}

/** Maximum number of Cargos whose measurement is kept. */
const MAX_MEASURED = 1_000;
/** Lifetime of a measurement. One large job may have caused it, and it must not exclude the Cargo forever. */
const MEASUREMENT_LIFETIME_MS = 600_000;
/** Minimum slack above the estimate. The ceiling is twice the estimate, or the estimate plus this if that is more. */
const MIN_SLACK_BYTES = GIB;

/**
 * Opens the memory needs of Cargos: the measurement from their last load, otherwise an estimate.
 * @param caps memory limit for all Cargos together.
 */
export function openMemoryNeeds(caps: MemoryUse, clock: Clock) {
  const measurements = new LRUCache<string, Measured>({ max: MAX_MEASURED });

  function setCaps(changed: MemoryUse): void {
    caps = changed;
  }

  /**
   * Returns the memory need of a Cargo.
   * @param key identifies the Cargo with its exact definition.
   * @param estimate asks the runtime; called when there is no recent measurement.
   * @throws {JobFailure} `out_of_memory` when the Cargo can never fit; errors of `estimate`.
   */
  async function of(cargo: CargoManifest, key: string, estimate: () => Promise<MemoryUse>): Promise<MemoryNeed> {
    const measured = freshMeasurement(key);
    const memory = measured?.memory ?? (await estimate());
    assertFits(cargo, memory, measured === undefined ? "estimated from its files" : "measured here");
    return { memory, ramCeilingBytes: measured?.ramCeilingBytes ?? ceilingFor(memory) };
  }

  /** @param source origin of the values, for the message. @throws {JobFailure} `out_of_memory`, retryable elsewhere. */
  function assertFits({ slug }: CargoManifest, need: MemoryUse, source: string): void {
    const check = (kind: string, neededBytes: number, capBytes: number): void => {
      if (neededBytes <= capBytes) return;
      const needed = `${slug} needs ${formatMibRoundedUp(neededBytes)} of ${kind} (${source})`;
      const text = `${needed}, but this Island gives Cargos ${formatMibRoundedDown(capBytes)}`;
      throw new JobFailure("out_of_memory", text, { retryable: true });
    };
    check("RAM", need.ramBytes, caps.ramBytes);
    check("VRAM", need.vramBytes, caps.vramBytes);
  }

  function note(key: string, need: MemoryNeed): void {
    measurements.set(key, { ...need, atMs: clock.monotonicMs() });
  }

  function freshMeasurement(key: string): Measured | undefined {
    const measured = measurements.get(key);
    const isFresh = measured !== undefined && clock.monotonicMs() - measured.atMs < MEASUREMENT_LIFETIME_MS;
    return isFresh ? measured : undefined;
  }

  function ceilingFor({ ramBytes }: MemoryUse): number {
    return Math.min(ramBytes + Math.max(ramBytes, MIN_SLACK_BYTES), caps.ramBytes);
  }

  return { setCaps, of, assertFits, note };
}

export type MemoryNeeds = ReturnType<typeof openMemoryNeeds>;
