import { isDeepStrictEqual } from "node:util";
import type { Clock, Timer } from "../../../shared/clock.ts";
import { ENGINE_PREFIX } from "../../../shared/model-address.ts";
import type { Logger } from "../../../shared/logger.ts";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import { growingMs } from "../../../shared/async/backoff.ts";
import { connectEngine, EngineFailure, type EngineConnection } from "./engine-connection.ts";
import type { EngineFacts } from "./engine-facts.ts";
import type { EngineModel, EngineProfile } from "./engine-profile.ts";
import { measureSlots } from "./measure-slots.ts";
import { recogniseEngine } from "./profiles/profiles.ts";

const CHECK_MS = 5_000;
const RETRY = { firstMs: 1_000, maxMs: 30_000 };
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
  #profile: EngineProfile | null = null;
  #served: readonly ServedModel[] = [];
  #state: EngineStatus["state"] = "checking";
  #slotCount = UNKNOWN_SLOTS;
  #running = 0;
  #othersRunning = 0;
  #problem: string | null = null;
  #pauseMs = 0;
  /** Called when the last run has ended. */
  #onIdle: () => void = () => undefined;
  #failures = 0;
  #timer: Timer | null = null;
  #check: Promise<void> | null = null;

  constructor(options: AttachedEngineOptions) {
    this.#options = options;
    this.connection = connectEngine(options.url, options.apiKey, () => this.#assertSameModels());
    void this.check();
  }

  get profile(): EngineProfile {
    if (this.#profile === null) throw new Error(`The engine at ${this.#options.url} has not been recognised`);
    return this.#profile;
  }

  get slots(): number {
    return this.#slotCount;
  }

  /** Models that jobs can use now. */
  get served(): readonly ServedModel[] {
    return this.#state === "ready" ? this.#served : [];
  }

  /** True while other clients use all slots. */
  get isBusy(): boolean {
    return this.#othersRunning >= this.#slotCount;
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

  /** Runs `work` in one of the engine's slots. A failure of the engine pauses it. @throws errors of `work`. */
  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#slots.acquire(work, signal);
    this.#running += 1;
    try {
      return await work();
    } catch (error) {
      if (error instanceof EngineFailure && error.pauseMs > 0 && !signal.aborted) this.#pause(error);
      throw error;
    } finally {
      this.#running -= 1;
      this.#slots.release();
      if (this.#running === 0) this.#onIdle();
    }
  }

  /** Asks the engine what it serves. Never rejects. */
  check(): Promise<void> {
    this.#timer?.cancel();
    this.#check ??= this.#checkNow().finally(() => {
      this.#check = null;
    });
    return this.#check;
  }

  /** Detaches the engine. Resolves when its runs have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error("the engine is detached"));
    this.#timer?.cancel();
    await this.#check;
    this.#serve([]);
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    this.connection[Symbol.dispose]();
  }

  async #checkNow(): Promise<void> {
    const { clock, log, url, onChange } = this.#options;
    const before = this.status();
    let waitMs = CHECK_MS;
    try {
      this.#profile ??= await recogniseEngine(this.connection.read);
      await this.connection.read(this.#profile.healthPath);
      await this.#readServed(this.#profile);
      await this.#readSlots(this.#profile);
      this.#end.signal.throwIfAborted();
      this.#failures = 0;
      this.#problem = null;
      this.#state = "ready";
    } catch (error) {
      if (this.#end.signal.aborted) return;
      this.#failures += 1;
      waitMs = growingMs(this.#failures, RETRY);
      this.#problem = error instanceof Error ? error.message : String(error);
      this.#state = "unavailable";
      // Another program may listen there next.
      this.#profile = null;
      this.#serve([]);
    }
    this.#timer = clock.schedule(waitMs, () => void this.check());
    const now = this.status();
    if (isDeepStrictEqual(before, now)) return;
    onChange();
    if (before.state === now.state) return;
    const { state, name, models, slots, problem } = now;
    if (state === "ready") log.info({ engine: name, url, models, slots }, "Engine is ready");
    else log.warn({ url, reason: problem }, "Engine is unavailable");
  }

  async #readServed(profile: EngineProfile): Promise<void> {
    const models = await profile.models(this.connection.read);
    const isServed = (model: EngineModel): boolean => this.#served.some((each) => isDeepStrictEqual(each.model, model));
    // Reading a new model's file takes long. The others are known already.
    this.#serve(this.#served.filter(({ model }) => models.some((each) => isDeepStrictEqual(each, model))));
    for (const model of models.filter((each) => !isServed(each))) {
      const { promise: gone, resolve: end } = Promise.withResolvers<void>();
      this.#serve([...this.#served, { model, key: await this.#keyOf(model), gone, end }]);
    }
  }

  async #keyOf({ proof, id }: EngineModel): Promise<string> {
    const declared = `engine:${id}`;
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
    for (const each of before) if (!served.includes(each)) each.end();
  }

  async #readSlots(profile: EngineProfile): Promise<void> {
    const { read } = this.connection;
    const slots = this.#options.slots ?? (await profile.slots?.(read)) ?? (await this.#measuredSlots());
    const running = (await profile.running?.(read)) ?? this.#running;
    this.#slotCount = Math.max(1, slots);
    this.#othersRunning = Math.max(0, running - this.#running);
    this.#slots.setPermits(Math.max(1, this.#slotCount - this.#othersRunning));
  }

  async #measuredSlots(): Promise<number> {
    const { facts, clock, url } = this.#options;
    const chat = this.#served.find(({ model }) => model.task === null);
    if (chat === undefined) return UNKNOWN_SLOTS;
    const key = `${url} ${chat.key}`;
    const known = facts.slotsOf(key);
    if (known !== null) return known;
    const measured = await measureSlots(this.connection, chat.model.id, clock, this.#end.signal);
    await facts.noteSlots(key, measured);
    return measured;
  }

  /** @throws {EngineFailure} if another process, or the same with other models, listens now. */
  async #assertSameModels(): Promise<void> {
    const models = await this.profile.models(this.connection.read);
    const isSame = models.every((model) => this.#served.some((each) => isDeepStrictEqual(each.model, model)));
    if (isSame && models.length === this.#served.length) return;
    throw new EngineFailure("The engine serves other models since it was restarted", { pauseMs: 1_000 });
  }

  #pause({ message, pauseMs }: EngineFailure): void {
    if (this.#end.signal.aborted) return;
    const { clock, log, url, onChange } = this.#options;
    this.#problem = message;
    this.#pauseMs = pauseMs;
    this.#state = "paused";
    this.#serve([]);
    log.warn({ url, reason: message, pause_ms: pauseMs }, "Engine gets no jobs for a while");
    this.#timer?.cancel();
    this.#timer = clock.schedule(pauseMs, () => void this.check());
    onChange();
  }
}
