import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { ModelRef } from "../../shared/cargo.ts";
import { systemClock, type Clock, type Timer } from "../../shared/clock.ts";
import type { FetchOptions } from "../../island-agent/models/fetch-policy.ts";
import { ModelStore } from "../../island-agent/models/model-store.ts";
import { FileServer } from "./file-server.ts";

export const NEVER = new AbortController().signal;

/** Real time, but waits between tries are only written down, and timers are counted. */
export class ImpatientClock implements Clock {
  readonly sleptMs: number[] = [];
  readonly #timers = new Set<Timer>();

  get pendingTimers(): number {
    return this.#timers.size;
  }

  now(): number {
    return systemClock.now();
  }
  monotonicMs(): number {
    return systemClock.monotonicMs();
  }
  schedule(delayMs: number, task: () => void): Timer {
    const timer = systemClock.schedule(delayMs, () => {
      this.#timers.delete(timer);
      task();
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleptMs.push(ms);
    return systemClock.sleep(0, signal);
  }
}

/** A server that is both coordinator and hub, a directory, and stores over them; all closed at the end. */
export class StoreFixture implements AsyncDisposable {
  readonly server: FileServer;
  readonly directory: string;
  readonly clock = new ImpatientClock();
  readonly #stores: ModelStore[] = [];

  private constructor(server: FileServer, directory: string) {
    this.server = server;
    this.directory = directory;
  }

  static async make(): Promise<StoreFixture> {
    return new StoreFixture(await FileServer.start(), await mkdtemp(join(tmpdir(), "atoll-models-")));
  }

  async open(options: { budgetBytes?: number; fetch?: FetchOptions } = {}): Promise<ModelStore> {
    const store = await ModelStore.open({
      directory: this.directory,
      budgetBytes: options.budgetBytes ?? 100_000_000,
      clock: this.clock,
      fetch: { coordinatorUrl: this.server.url, hubEndpoint: this.server.url, stallMs: 20_000, ...options.fetch },
    });
    this.#stores.push(store);
    return store;
  }

  async files(): Promise<string[]> {
    return (await readdir(this.directory)).toSorted();
  }

  /** Files in the directory that this process has open; Linux only. */
  async #openFiles(): Promise<string[]> {
    const descriptors = await readdir("/proc/self/fd").catch(() => []);
    const paths = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
    return paths.filter((path) => path.startsWith(this.directory));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#stores) await store.close();
    await this.server[Symbol.asyncDispose]();
    expect(this.clock.pendingTimers, "timers left").toBe(0);
    expect(await this.#openFiles(), "files left open").toEqual([]);
    await rm(this.directory, { recursive: true, force: true });
  }
}

export function makeRef(overrides: Partial<ModelRef> = {}): ModelRef {
  return { url: "/models/a.gguf", sha256: null, sizeBytes: null, ...overrides };
}

/** The failure of a promise that has to fail. */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string; retryable?: boolean }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not fail");
}
