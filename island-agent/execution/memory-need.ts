import { LRUCache } from "lru-cache";
import type { CargoManifest } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { JobFailure } from "../../shared/errors.ts";
import { formatMibRoundedDown, formatMibRoundedUp, GIB } from "../../shared/format-bytes.ts";
import type { MemoryUse } from "../runtimes/runtime.ts";

/** What a Cargo takes in memory, and the RAM at which its process is killed. */
export interface MemoryNeed {
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

/** How much memory Cargos need: as measured when they were last in memory, otherwise as estimated. */
export class MemoryNeeds {
  #caps: MemoryUse;
  readonly #clock: Clock;
  /** By the Cargo's key. */
  readonly #measured = new LRUCache<string, Measured>({ max: MAX_MEASURED });

  /** @param caps most that all Cargos together may take. */
  constructor(caps: MemoryUse, clock: Clock) {
    this.#caps = caps;
    this.#clock = clock;
  }

  setCaps(caps: MemoryUse): void {
    this.#caps = caps;
  }

  /**
   * @param key names the Cargo in its exact definition.
   * @param estimate asks the runtime; called when no fresh measurement is known.
   * @throws {JobFailure} `out_of_memory` when the Cargo can never fit; what `estimate` throws.
   */
  async of(cargo: CargoManifest, key: string, estimate: () => Promise<MemoryUse>): Promise<MemoryNeed> {
    const measured = this.#freshMeasurement(key);
    const memory = measured?.memory ?? (await estimate());
    this.assertFits(cargo, memory, measured === undefined ? "estimated from its files" : "as measured here");
    return { memory, ramCeilingBytes: measured?.ramCeilingBytes ?? this.#ceilingFor(memory) };
  }

  /** @param source where the figures come from, for the message. @throws {JobFailure} `out_of_memory`, retryable elsewhere. */
  assertFits({ slug }: CargoManifest, need: MemoryUse, source: string): void {
    const check = (kind: string, neededBytes: number, capBytes: number): void => {
      if (neededBytes <= capBytes) return;
      const needed = `${slug} needs ${formatMibRoundedUp(neededBytes)} of ${kind}, ${source}`;
      const text = `${needed}; this Island has ${formatMibRoundedDown(capBytes)} for Cargos`;
      throw new JobFailure("out_of_memory", text, { retryable: true });
    };
    check("RAM", need.ramBytes, this.#caps.ramBytes);
    check("VRAM", need.vramBytes, this.#caps.vramBytes);
  }

  /** Remembers what a Cargo took when it was unloaded. */
  note(key: string, need: MemoryNeed): void {
    this.#measured.set(key, { ...need, atMs: this.#clock.monotonicMs() });
  }

  #freshMeasurement(key: string): Measured | undefined {
    const measured = this.#measured.get(key);
    const isFresh = measured !== undefined && this.#clock.monotonicMs() - measured.atMs < MEASURED_FOR_MS;
    return isFresh ? measured : undefined;
  }

  #ceilingFor({ ramBytes }: MemoryUse): number {
    return Math.min(ramBytes + Math.max(ramBytes, MIN_SLACK_BYTES), this.#caps.ramBytes);
  }
}
