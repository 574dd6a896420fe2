import type { PromptPart } from "../../coordinator/scheduler/events.ts";
import type { VirtualClock } from "../cells/virtual-clock.ts";

/** A request for a completion, as the model runs it. Times in ms, sizes in tokens. */
export interface Chat {
  readonly id: string;
  readonly slug: string;
  readonly accountId: string;
  readonly arrivedMs: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Number of output tokens that a chat of the fleet has on average, which every policy knows. */
  readonly expectedOutput: number;
  readonly promptParts: readonly PromptPart[];
  /** Part of the next turn that contains the answer; null for the last turn. */
  readonly answerHash: number | null;
}

/** True speeds of an Island. `ITL(b) = alphaMs + betaMs · b` at b chats that are written. */
export interface Speeds {
  readonly alphaMs: number;
  readonly betaMs: number;
  readonly readMsPerToken: number;
  readonly loadMs: number;
}

export interface IslandPlan {
  readonly id: string;
  /** Number of the Island in its fleet. */
  readonly nth: number;
  readonly hardwareClass: string;
  readonly slots: number;
  readonly speeds: Speeds;
  /** Cargos whose models are on disk. Only these can be loaded. */
  readonly slugs: readonly string[];
  /** Number of models that fit into memory. */
  readonly memoryModels: number;
}

export interface IslandListener {
  firstOutput(chat: Chat, island: ModelledIsland): void;
  ended(chat: Chat, island: ModelledIsland, cachedTokens: number): void;
  loadedChanged(island: ModelledIsland): void;
}

interface Running {
  readonly chat: Chat;
  /** Factor for the variation of times, near 1. */
  readonly noise: number;
  cached: number;
  loadLeftMs: number;
  readLeft: number;
  writeLeft: number;
}

/** Reading one prompt takes half of the speed from the chats that are written. */
const WRITE_SPEED_WHILE_READING = 0.5;
const EPSILON = 1e-6;

/** Continuous batching as engines do it: prompts are read one after the other, and all others are written together. */
export class ModelledIsland {
  readonly id: string;
  readonly plan: IslandPlan;
  speeds: Speeds;
  /** Models in memory, the least recently used first. */
  readonly loaded = new Set<string>();
  readonly #clock: Pick<VirtualClock, "after" | "monotonicMs">;
  readonly #listener: IslandListener;
  readonly #random: () => number;
  #reading: Running[] = [];
  #writing: Running[] = [];
  /** Prompts in the cache by the hash of their last part, the least recently used first. */
  readonly #cache = new Map<number, readonly number[]>();
  #atMs = 0;
  #timer: { cancel(): void } | null = null;
  /** Prompt tokens that were read. */
  read = 0;

  constructor(
    plan: IslandPlan,
    clock: Pick<VirtualClock, "after" | "monotonicMs">,
    listener: IslandListener,
    random: () => number,
  ) {
    this.id = plan.id;
    this.plan = plan;
    this.speeds = plan.speeds;
    this.#clock = clock;
    this.#listener = listener;
    this.#random = random;
    for (const slug of plan.slugs.slice(0, plan.memoryModels)) this.loaded.add(slug);
  }

  get busy(): number {
    return this.#reading.length + this.#writing.length;
  }

  get isFree(): boolean {
    return this.busy < this.plan.slots;
  }

  /** Prompt tokens that the Island reads before it can begin with the next prompt. */
  get unread(): number {
    return this.#reading.reduce((sum, { readLeft }) => sum + readLeft, 0);
  }

  /** Output tokens that the running chats still write, in no defined order. */
  get unwritten(): number[] {
    return [...this.#reading, ...this.#writing].map(({ chat, writeLeft }) => {
      const done = chat.outputTokens - writeLeft;
      // No policy knows how long a chat is.
      return Math.max(0.25 * chat.expectedOutput, chat.expectedOutput - done);
    });
  }

  /** Returns the number of prompt tokens in the cache. */
  cachedTokens({ promptParts }: Pick<Chat, "promptParts">): number {
    if (promptParts.length === 0) return 0;
    const hashes = new Set([...this.#cache.values()].flat());
    return promptParts.findLast(({ hash }) => hashes.has(hash))?.tokens ?? 0;
  }

  loadMs(slug: string): number {
    return this.loaded.has(slug) ? 0 : this.speeds.loadMs;
  }

  start(chat: Chat): void {
    this.#advance();
    const noise = 0.95 + 0.1 * this.#random();
    this.#reading.push({
      chat,
      noise,
      cached: 0,
      loadLeftMs: 0,
      readLeft: chat.promptTokens,
      writeLeft: chat.outputTokens,
    });
    if (this.#reading.length === 1) this.#beginReading();
    this.#schedule();
  }

  setSpeeds(speeds: Speeds): void {
    this.#advance();
    this.speeds = speeds;
    this.#schedule();
  }

  #beginReading(): void {
    const [next] = this.#reading;
    if (next === undefined) return;
    const { chat } = next;
    next.loadLeftMs = this.loadMs(chat.slug);
    next.cached = next.loadLeftMs > 0 ? 0 : Math.min(this.cachedTokens(chat), chat.promptTokens - 1);
    next.readLeft = chat.promptTokens - next.cached;
    this.read += next.readLeft;
  }

  #writeMs({ noise }: Running): number {
    const { alphaMs, betaMs } = this.speeds;
    const slow = this.#reading.length > 0 ? 1 / WRITE_SPEED_WHILE_READING : 1;
    return (alphaMs + betaMs * this.#writing.length) * noise * slow;
  }

  #readMs({ loadLeftMs, readLeft, noise }: Running): number {
    return loadLeftMs + readLeft * this.speeds.readMsPerToken * noise;
  }

  /** Accounts for the work since the last change. */
  #advance(): void {
    const nowMs = this.#clock.monotonicMs();
    const passedMs = nowMs - this.#atMs;
    for (const running of this.#writing) {
      const tokens = Math.min(running.writeLeft, passedMs / this.#writeMs(running));
      running.writeLeft -= tokens;
    }
    const [reading] = this.#reading;
    if (reading !== undefined) {
      const loaded = Math.min(reading.loadLeftMs, passedMs);
      reading.loadLeftMs -= loaded;
      reading.readLeft -= (passedMs - loaded) / (this.speeds.readMsPerToken * reading.noise);
    }
    this.#atMs = nowMs;
  }

  #schedule(): void {
    this.#timer?.cancel();
    const [reading] = this.#reading;
    const next = Math.min(
      reading === undefined ? Infinity : this.#readMs(reading),
      ...this.#writing.map((running) => running.writeLeft * this.#writeMs(running)),
    );
    this.#timer = next === Infinity ? null : this.#clock.after(next, () => this.#reach());
  }

  #reach(): void {
    this.#advance();
    const [reading] = this.#reading;
    const isRead = reading !== undefined && reading.loadLeftMs <= EPSILON && reading.readLeft <= EPSILON;
    const ended = this.#writing.filter(({ writeLeft }) => writeLeft <= EPSILON);
    this.#writing = this.#writing.filter(({ writeLeft }) => writeLeft > EPSILON);
    if (isRead) {
      this.#reading.shift();
      this.#writing.push(reading);
      this.#remember(reading.chat, null);
      this.#load(reading.chat.slug);
      this.#beginReading();
    }
    this.#schedule();
    if (isRead) this.#listener.firstOutput(reading.chat, this);
    for (const { chat, cached } of ended) {
      this.#remember(chat, chat.answerHash);
      this.#listener.ended(chat, this, cached);
    }
  }

  #load(slug: string): void {
    const wasLoaded = this.loaded.delete(slug);
    this.loaded.add(slug);
    if (wasLoaded) return;
    const inUse = new Set([...this.#reading, ...this.#writing].map(({ chat }) => chat.slug));
    for (const other of this.loaded) {
      if (this.loaded.size <= this.plan.memoryModels) break;
      if (!inUse.has(other)) this.loaded.delete(other);
    }
    this.#listener.loadedChanged(this);
  }

  /** Keeps a prompt in the cache, in place of the one that it continues. Two prompts fit for each slot. */
  #remember({ promptParts }: Chat, answerHash: number | null): void {
    const hashes = [...promptParts.map(({ hash }) => hash), ...(answerHash === null ? [] : [answerHash])];
    const last = hashes.at(-1);
    if (last === undefined) return;
    for (const hash of hashes) this.#cache.delete(hash);
    this.#cache.set(last, hashes);
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size <= 2 * this.plan.slots) break;
      this.#cache.delete(oldest);
    }
  }
}
