import { isDeepStrictEqual } from "node:util";
import type { Clock, Timer } from "../../../shared/clock.ts";
import { ENGINE_PREFIX } from "../../../shared/model-address.ts";
import type { Logger } from "../../../shared/logger.ts";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import { growingMs } from "../../../shared/async/backoff.ts";
import { connectEngine, EngineFailure, failureFor, PAUSES_MS, type EngineConnection } from "./engine-connection.ts";
import { readModels, type EngineFacts } from "./engine-facts.ts";
import type { EngineAbility, EngineModel, EngineProfile } from "./engine-profile.ts";
import { measureSlots } from "./measure-slots.ts";
import { recogniseEngine } from "./profiles/profiles.ts";

const CHECK_MS = 5_000;
const RETRY = { firstMs: 1_000, maxMs: 30_000 };
const MAX_PAUSE_MS = 600_000;
/** Failed checks in a row after which runs are ended, because an engine that hangs does not end them. */
const HUNG_CHECKS = 2;
/** Failed runs in a row after which the engine is paused, whatever failed. */
const FAILING_RUNS = 3;
const MAX_SLOTS = 1_000;
/** Time after which slots are measured again, since an engine may restart with others between two checks. */
const MEASURED_MS = 24 * 3_600_000;
/** Slots of an engine whose number could not be measured. */
const UNKNOWN_SLOTS = 1;

/** A model that the engine serves now. */
export interface ServedModel {
  readonly model: EngineModel;
  /** Cache key of the Cargos that it serves. See `cacheKeyOf` in shared/cargo.ts. */
  readonly key: string;
  /** Resolves when the engine no longer serves the model. */
  readonly gone: Promise<void>;
  readonly end: () => void;
}

interface AttachedEngineOptions {
  readonly url: string;
  readonly apiKey: string | null;
  /** The owner's number of slots; null: the engine's. */
  readonly slots: number | null;
  readonly facts: EngineFacts;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  /** Called when the models or the free slots have changed. */
  readonly onChange: () => void;
}

/** State of an engine for its owner. */
export interface EngineStatus {
  readonly url: string;
  /** Null until the engine has been recognised. */
  readonly name: string | null;
  readonly state: "checking" | "ready" | "paused" | "unavailable";
  readonly models: readonly string[];
  /** Those models whose identity nothing proves: the host only declares it. */
  readonly declared: readonly string[];
  readonly slots: number;
  readonly running: number;
  /** Runs of other clients, such as its owner. */
  readonly othersRunning: number;
  readonly problem: string | null;
  /** Length of the pause, in ms; null unless `state` is `paused`. */
  readonly pauseMs: number | null;
}

/**
 * An engine of the host, such as Ollama. Checks every 5 s what it serves, and after failures less often.
 * States: `checking` until the first answer; `ready`; `paused` after a failed run, for a time that depends on the
 * failure; `unavailable` while it does not respond.
 */
export class AttachedEngine implements AsyncDisposable {
  readonly connection: EngineConnection;
  readonly #options: AttachedEngineOptions;
  readonly #end = new AbortController();
  readonly #slots = new Semaphore<object>(UNKNOWN_SLOTS);
  /** Callbacks of the runs that wait for a slot, or for the engine's first output. */
  readonly #waiting = new Set<() => void>();
  #profile: EngineProfile | null = null;
  #served: readonly ServedModel[] = [];
  /** The models that were last read, and the value of {@link EngineConnection.closedReads} before. */
  #read: { readonly models: readonly EngineModel[]; readonly closedReads: number } = { models: [], closedReads: -1 };
  #state: EngineStatus["state"] = "checking";
  #slotCount = UNKNOWN_SLOTS;
  #running = 0;
  #othersRunning = 0;
  #problem: string | null = null;
  #pauseMs = 0;
  /** Called when the last run has ended. */
  #onIdle: () => void = () => undefined;
  /** Failed checks in a row. */
  #failures = 0;
  /** Failed runs in a row. */
  #failedRuns = 0;
  /** Pauses since the last run that succeeded. */
  #pauses = 0;
  #lacks: readonly EngineAbility[] = [];
  #pausedUntilMs = 0;
  /** Aborts the runs of an engine that hangs. */
  #runs = new AbortController();
  #measured: { readonly key: string; readonly slots: number; readonly untilMs: number } | null = null;
  #timer: Timer | null = null;
  #check: Promise<void> | null = null;

  constructor(options: AttachedEngineOptions) {
    this.#options = options;
    this.connection = connectEngine(options.url, options.apiKey, (model) => this.#assertSame(model));
    void this.check();
  }

  /** @throws {EngineFailure} while the engine is not recognised. */
  get profile(): EngineProfile {
    if (this.#profile !== null) return this.#profile;
    throw new EngineFailure(`The engine at ${this.#options.url} is unavailable: ${this.#problem ?? "not recognised"}`);
  }

  /** Abilities of the profile that failed runs have shown to be missing. */
  get lacks(): readonly EngineAbility[] {
    return this.#lacks;
  }

  get slots(): number {
    return this.#slotCount;
  }

  /** Models that jobs can use now. */
  get served(): readonly ServedModel[] {
    return this.#state === "ready" ? this.#served : [];
  }

  /** Slots that other clients do not use. */
  get jobSlots(): number {
    return Math.max(0, this.#slotCount - this.#othersRunning);
  }

  status(): EngineStatus {
    return {
      url: this.#options.url,
      name: this.#profile?.name ?? null,
      state: this.#state,
      models: this.#served.map(({ model }) => model.id),
      declared: this.#served.filter(({ key }) => key.startsWith(ENGINE_PREFIX)).map(({ model }) => model.id),
      slots: this.#slotCount,
      running: this.#running,
      othersRunning: this.#othersRunning,
      problem: this.#problem,
      pauseMs: this.#state === "paused" ? this.#pauseMs : null,
    };
  }

  /**
   * Runs `work` in one of the engine's slots. Its signal also aborts when the engine hangs. Failures of the engine pause
   * it. @throws errors of `work`.
   * @param onWorking called while the run waits for others that make progress, or for its first output from an engine
   * that passes its checks: it may be loading the model.
   */
  async use<T>(
    signal: AbortSignal,
    onWorking: () => void,
    work: (signal: AbortSignal, onProgress: () => void) => Promise<T>,
  ): Promise<T> {
    this.#waiting.add(onWorking);
    await this.#slots.acquire(work, signal).catch((error: unknown) => {
      this.#waiting.delete(onWorking);
      throw error;
    });
    this.#running += 1;
    try {
      const result = await work(AbortSignal.any([signal, this.#runs.signal]), () => {
        this.#waiting.delete(onWorking);
        for (const each of this.#waiting) each();
      });
      this.#failedRuns = 0;
      this.#pauses = 0;
      return result;
    } catch (error) {
      if (error instanceof EngineFailure && !signal.aborted) this.#noteFailure(error);
      throw error;
    } finally {
      this.#waiting.delete(onWorking);
      this.#running -= 1;
      this.#slots.release();
      if (this.#running === 0) this.#onIdle();
    }
  }

  /** Asks the engine what it serves. Never rejects. */
  async check(): Promise<void> {
    if (this.#end.signal.aborted) return;
    this.#timer?.cancel();
    this.#check ??= this.#checkNow().finally(() => {
      this.#check = null;
    });
    await this.#check;
  }

  /** Detaches the engine. Resolves when its runs have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error("the engine is detached"));
    this.#timer?.cancel();
    this.#serve([]);
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    this.connection[Symbol.dispose]();
    await this.#check;
    this.#serve([]);
  }

  async #checkNow(): Promise<void> {
    const { clock, log, url, onChange } = this.#options;
    const before = this.status();
    const modelsBefore = this.#served.map(({ model }) => model);
    let waitMs: number;
    try {
      this.#profile ??= await recogniseEngine(this.connection.read);
      await this.connection.read(this.#profile.healthPath);
      await this.#readServed(this.#profile);
      await this.#readSlots(this.#profile);
      this.#end.signal.throwIfAborted();
      this.#failures = 0;
      for (const each of this.#waiting) each();
      const pauseMs = this.#pausedUntilMs - clock.monotonicMs();
      waitMs = pauseMs > 0 ? pauseMs : CHECK_MS;
      this.#state = pauseMs > 0 ? "paused" : "ready";
      if (pauseMs <= 0) this.#problem = null;
    } catch (error) {
      if (this.#end.signal.aborted) return;
      const failure = this.#failureFor(error);
      this.#failures += 1;
      waitMs = growingMs(this.#failures, RETRY);
      this.#problem = failure.message;
      this.#state = "unavailable";
      // Another program may listen there next.
      this.#profile = null;
      this.#lacks = [];
      this.#measured = null;
      this.#serve([]);
      if (this.#failures >= HUNG_CHECKS) {
        this.#runs.abort(failure);
        this.#runs = new AbortController();
      }
    }
    this.#schedule(waitMs);
    const now = this.status();
    const models = this.#served.map(({ model }) => model);
    if (isDeepStrictEqual([before, modelsBefore], [now, models])) return;
    onChange();
    if (before.state === now.state) return;
    const { state, name, slots, problem } = now;
    if (state === "ready") log.info({ engine: name, url, models: now.models, slots }, "Engine is ready");
    else log.warn({ url, reason: problem }, "Engine is unavailable");
  }

  #schedule(waitMs: number): void {
    if (this.#end.signal.aborted) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.schedule(waitMs, () => void this.check());
  }

  async #readModels(profile: EngineProfile): Promise<readonly EngineModel[]> {
    const known = this.#served.map(({ model }) => model);
    const { closedReads } = this.connection;
    const models = await readModels(profile, this.connection, known);
    this.#read = { models, closedReads };
    return models;
  }

  async #readServed(profile: EngineProfile): Promise<void> {
    const models = await this.#readModels(profile);
    // Facts such as the context change when an engine loads a model.
    const kept = this.#served.flatMap((each) => {
      const model = models.find((other) => isSame(other, each.model));
      return model === undefined ? [] : [{ ...each, model }];
    });
    // Reading a new model's file takes long. The others are known already.
    this.#serve(kept);
    for (const model of models) {
      const known = kept.find((each) => isSame(each.model, model));
      // A file that could not be read may be readable now.
      if (known !== undefined && !(model.proof?.kind === "file" && known.key.startsWith(ENGINE_PREFIX))) continue;
      const key = await this.#keyOf(model);
      if (key === known?.key) continue;
      const { promise: gone, resolve: end } = Promise.withResolvers<void>();
      this.#serve([...this.#served.filter((each) => each !== known), { model, key, gone, end }]);
    }
  }

  async #keyOf({ proof, id }: EngineModel): Promise<string> {
    const declared = `engine:${declaredName(id)}`;
    if (proof === null) return declared;
    switch (proof.kind) {
      case "file":
        return (await this.#options.facts.hashOf(proof.path, this.#end.signal)) ?? declared;
      case "sha256":
        return proof.sha256;
      case "hub":
        return `hf:${proof.repository}#${proof.revision}`;
      default:
        return proof satisfies never;
    }
  }

  /** Replaces the served models, and ends those that are gone. */
  #serve(served: readonly ServedModel[]): void {
    const before = this.#served;
    this.#served = served;
    for (const each of before) if (!served.some(({ gone }) => gone === each.gone)) each.end();
  }

  async #readSlots(profile: EngineProfile): Promise<void> {
    const { read } = this.connection;
    const slots = this.#options.slots ?? (await profile.slots?.(read)) ?? (await this.#measuredSlots());
    const before = this.#running;
    const running = (await profile.running?.(read)) ?? 0;
    this.#slotCount = Math.min(MAX_SLOTS, Math.max(1, slots));
    // Own runs may have begun or ended while the engine counted.
    this.#othersRunning = Math.max(0, running - Math.max(before, this.#running));
    this.#slots.setPermits(Math.max(1, this.jobSlots));
  }

  async #measuredSlots(): Promise<number> {
    const { clock, url, log } = this.#options;
    const chat = this.#served.find(({ model }) => model.task === null);
    if (chat === undefined) return UNKNOWN_SLOTS;
    const { key, model } = chat;
    const known = this.#measured?.key === key ? this.#measured : null;
    // Jobs would falsify the measurement.
    if (known !== null && (this.#running > 0 || clock.monotonicMs() < known.untilMs)) return known.slots;
    const slots = await measureSlots(this.connection, model, clock, this.#end.signal).catch((error: unknown) => {
      this.#end.signal.throwIfAborted();
      // Other models may run, so the engine is available.
      log.warn({ url, model: model.id, reason: String(error) }, "Could not measure the slots of an engine");
      return UNKNOWN_SLOTS;
    });
    this.#measured = { key, slots, untilMs: clock.monotonicMs() + MEASURED_MS };
    return slots;
  }

  /** @throws {EngineFailure} if another process, or the same with another model, listens now. */
  async #assertSame(model: EngineModel): Promise<void> {
    const isKnown = this.#read.models.some((each) => isSame(each, model));
    const isSameProcess = this.#read.closedReads === this.connection.closedReads;
    // A path proves a model only on this machine. At other addresses a proxy may keep its connections.
    if (this.profile.keepsModels === true && model.proof !== null && isKnown && isSameProcess) return;
    const models = await this.#readModels(this.profile).catch((error: unknown) => {
      throw this.#failureFor(error);
    });
    if (models.some((each) => isSame(each, model))) return;
    throw new EngineFailure(`The engine no longer serves the model ${model.id}`, { pauseMs: PAUSES_MS.gone });
  }

  #failureFor(error: unknown): EngineFailure {
    return failureFor(error, this.#options.url, this.#profile?.name);
  }

  #noteFailure(failure: EngineFailure): void {
    const { clock, log, url, onChange } = this.#options;
    // The first of several failures at once has paused the engine.
    if (this.#state !== "ready" || this.#end.signal.aborted) return;
    if (failure.lacks !== null) {
      this.#lacks = [...this.#lacks, failure.lacks];
      onChange();
      return;
    }
    this.#failedRuns += 1;
    const firstMs = failure.pauseMs || (this.#failedRuns >= FAILING_RUNS ? PAUSES_MS.overloaded : 0);
    if (firstMs === 0) return;
    this.#pauses += 1;
    this.#pauseMs = growingMs(this.#pauses, { firstMs, maxMs: MAX_PAUSE_MS });
    this.#pausedUntilMs = clock.monotonicMs() + this.#pauseMs;
    this.#problem = failure.message;
    this.#state = "paused";
    this.#serve([]);
    log.warn({ url, reason: failure.message, pause_ms: this.#pauseMs }, "Engine gets no jobs for a while");
    this.#schedule(this.#pauseMs);
    onChange();
  }
}

function isSame(a: EngineModel, b: EngineModel): boolean {
  return a.id === b.id && a.version === b.version && isDeepStrictEqual(a.proof, b.proof);
}

/** Returns a name for a model's id, which may be a path of this machine: at most 100 of A-Z, a-z, 0-9 and ._:/-. */
function declaredName(id: string): string {
  const name = /([^/\\]+)\.gguf$/i.exec(id)?.[1] ?? id;
  return name.replaceAll(/[^A-Za-z0-9._:/-]+/g, "-").slice(0, 100);
}
