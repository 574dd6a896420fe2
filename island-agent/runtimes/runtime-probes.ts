import type { RuntimeType } from "../../shared/cargo.ts";
import { Backoff } from "../../shared/async/backoff.ts";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { CargoRuntime, ProbeResult } from "./runtime.ts";

export const MAX_PROBE_MS = 30_000;
/** Delays between probes of an unusable runtime, in ms. */
export const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 600_000;

export interface UsableRuntime {
  readonly runtime: CargoRuntime;
  readonly version: string;
}

export interface UnusableRuntime {
  readonly type: RuntimeType;
  readonly reason: string;
  /** Time of the next probe in ms since the epoch; null if the runtime is not probed again. */
  readonly retryAtMs: number | null;
}

interface RuntimeProbesDeps {
  readonly candidates: readonly CargoRuntime[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs before a usable runtime is offered. Never rejects. */
  readonly prepare: (runtime: CargoRuntime) => Promise<void>;
  /** Returns 0 (inclusive) to 1 (exclusive); spreads the probes. */
  readonly random?: () => number;
}

interface PendingProbe {
  readonly problem: UnusableRuntime;
  readonly timer: Timer | null;
}

/**
 * Finds the runtimes that work on this host. Probes the others repeatedly, because a probe may have been killed, or a
 * container engine may start later.
 */
export class RuntimeProbes implements Disposable {
  /** Called when a later probe has found a runtime, after it was added to `usable`. */
  onFound: (type: RuntimeType) => void = () => {};
  readonly #deps: RuntimeProbesDeps;
  readonly #candidates = new Map<RuntimeType, CargoRuntime>();
  readonly #foreign = new Set<RuntimeType>();
  readonly #usable = new Map<RuntimeType, UsableRuntime>();
  readonly #unusable = new Map<RuntimeType, PendingProbe>();
  readonly #backoffs = new Map<RuntimeType, Backoff>();
  readonly #end = new AbortController();

  constructor(deps: RuntimeProbesDeps) {
    this.#deps = deps;
    for (const runtime of deps.candidates) this.#candidates.set(runtime.type, runtime);
  }

  get usable(): ReadonlyMap<RuntimeType, UsableRuntime> {
    return this.#usable;
  }

  unusable(): UnusableRuntime[] {
    return [...this.#unusable.values()].map(({ problem }) => problem);
  }

  /** Whether any runtime is usable or will be probed again. */
  get canBecomeUsable(): boolean {
    return this.#usable.size > 0 || this.unusable().some(({ retryAtMs }) => retryAtMs !== null);
  }

  /** Probes all candidates one after the other. */
  async probeAll(): Promise<void> {
    for (const runtime of this.#candidates.values()) await this.#probe(runtime);
    // One cause, such as a missing sandbox, may affect several runtimes.
    const byReason = Map.groupBy(
      this.unusable().filter(({ type }) => !this.#foreign.has(type)),
      ({ reason }) => reason,
    );
    for (const [reason, problems] of byReason) {
      this.#deps.log.info({ type: problems.map(({ type }) => type).join(", "), reason }, "Runtime is not usable");
    }
  }

  /**
   * Replaces the candidate of the same type, for later loads. The new runtime counts as usable if the old one was
   * usable.
   */
  replace(runtime: CargoRuntime): void {
    if (!this.#candidates.has(runtime.type)) return;
    this.#candidates.set(runtime.type, runtime);
    const usable = this.#usable.get(runtime.type);
    if (usable !== undefined) this.#usable.set(runtime.type, { ...usable, runtime });
  }

  [Symbol.dispose](): void {
    this.#end.abort(new Error("the agent stops"));
    for (const { timer } of this.#unusable.values()) timer?.cancel();
  }

  async #probe(runtime: CargoRuntime): Promise<void> {
    const { signal } = this.#end;
    const result = await runtime.probe(AbortSignal.any([signal, AbortSignal.timeout(MAX_PROBE_MS)]));
    if (!result.usable && result.isForeign === true) this.#foreign.add(runtime.type);
    if (result.usable) await this.#deps.prepare(runtime);
    if (signal.aborted) return;
    if (!result.usable) return this.#retryLater(runtime, result);
    this.#unusable.delete(runtime.type);
    this.#usable.set(runtime.type, { runtime: this.#candidates.get(runtime.type) ?? runtime, version: result.version });
  }

  #retryLater(runtime: CargoRuntime, { reason, isFinal = false }: ProbeResult & { usable: false }): void {
    const { type } = runtime;
    const { clock, log } = this.#deps;
    const before = this.#unusable.get(type)?.problem.reason;
    if (before !== undefined && before !== reason) log.info({ type, reason }, "Runtime is not usable");
    const waitMs = isFinal ? null : this.#backoffOf(type).nextMs();
    this.#unusable.set(type, {
      problem: { type, reason, retryAtMs: waitMs === null ? null : clock.now() + waitMs },
      timer: waitMs === null ? null : clock.schedule(waitMs, () => void this.#probeAgain(type)),
    });
  }

  async #probeAgain(type: RuntimeType): Promise<void> {
    const runtime = this.#candidates.get(type);
    if (runtime !== undefined) await this.#probe(runtime);
    if (this.#end.signal.aborted || !this.#usable.has(type)) return;
    this.#deps.log.info({ type }, "Runtime is usable now");
    this.onFound(type);
  }

  #backoffOf(type: RuntimeType): Backoff {
    const { random = Math.random } = this.#deps;
    const backoff = this.#backoffs.get(type) ?? new Backoff({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random });
    this.#backoffs.set(type, backoff);
    return backoff;
  }
}
