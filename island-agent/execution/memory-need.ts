import { LRUCache } from "lru-cache";
import type { CargoManifest } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { JobFailure } from "../../shared/errors.ts";
import { formatMibRoundedDown, formatMibRoundedUp, GIB } from "../../shared/format-bytes.ts";
import type { MemoryUse } from "../runtimes/runtime.ts";

/** What a Cargo takes in memory, and the RAM at which its process is killed. */
interface MemoryNeed {
  readonly memory: MemoryUse;
  readonly ramCeilingBytes: number;
}

interface Measured extends MemoryNeed {
  /** On the clock's monotonic scale. */
  readonly atMs: number;
}

/** Cargos whose measured memory is remembered. */
const MAX_MEASURED = 1_000;
/** A measurement expires, because a single large job may have caused it: it must not keep the Cargo out for good. */
const MEASURED_FOR_MS = 600_000;
/** A Cargo may take twice its estimate, or this much more than it. */
const MIN_SLACK_BYTES = GIB;

/**
 * How much memory Cargos need: as measured when they were last in memory, otherwise as estimated.
 * @param caps most that all Cargos together may take.
 */
export function openMemoryNeeds(caps: MemoryUse, clock: Clock) {
  /** By the Cargo's key. */
  const measurements = new LRUCache<string, Measured>({ max: MAX_MEASURED });

  function setCaps(changed: MemoryUse): void {
    caps = changed;
  }

  /**
   * @param key names the Cargo in its exact definition.
   * @param estimate asks the runtime; called when no fresh measurement is known.
   * @throws {JobFailure} `out_of_memory` when the Cargo can never fit; what `estimate` throws.
   */
  async function of(cargo: CargoManifest, key: string, estimate: () => Promise<MemoryUse>): Promise<MemoryNeed> {
    const measured = freshMeasurement(key);
    const memory = measured?.memory ?? (await estimate());
    assertFits(cargo, memory, measured === undefined ? "estimated from its files" : "as measured here");
    return { memory, ramCeilingBytes: measured?.ramCeilingBytes ?? ceilingFor(memory) };
  }

  /** @param source where the figures come from, for the message. @throws {JobFailure} `out_of_memory`, retryable elsewhere. */
  function assertFits({ slug }: CargoManifest, need: MemoryUse, source: string): void {
    const check = (kind: string, neededBytes: number, capBytes: number): void => {
      if (neededBytes <= capBytes) return;
      const needed = `${slug} needs ${formatMibRoundedUp(neededBytes)} of ${kind}, ${source}`;
      const text = `${needed}; this Island has ${formatMibRoundedDown(capBytes)} for Cargos`;
      throw new JobFailure("out_of_memory", text, { retryable: true });
    };
    check("RAM", need.ramBytes, caps.ramBytes);
    check("VRAM", need.vramBytes, caps.vramBytes);
  }

  /** Remembers what a Cargo took when it was unloaded. */
  function note(key: string, need: MemoryNeed): void {
    measurements.set(key, { ...need, atMs: clock.monotonicMs() });
  }

  function freshMeasurement(key: string): Measured | undefined {
    const measured = measurements.get(key);
    const isFresh = measured !== undefined && clock.monotonicMs() - measured.atMs < MEASURED_FOR_MS;
    return isFresh ? measured : undefined;
  }

  function ceilingFor({ ramBytes }: MemoryUse): number {
    return Math.min(ramBytes + Math.max(ramBytes, MIN_SLACK_BYTES), caps.ramBytes);
  }

  return { setCaps, of, assertFits, note };
}

export type MemoryNeeds = ReturnType<typeof openMemoryNeeds>;
