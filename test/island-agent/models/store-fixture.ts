import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { ModelRef } from "../../../shared/cargo.ts";
import { systemClock, type Clock, type Timer } from "../../../shared/clock.ts";
import { resolveFetchPolicy, type FetchOptions } from "../../../island-agent/models/download/fetch-policy.ts";
import type { MakeLink } from "../../../island-agent/models/folders/folder-links.ts";
import { FolderStore } from "../../../island-agent/models/folders/folder-store.ts";
import { ModelStore } from "../../../island-agent/models/store/model-store.ts";
import { FileServer } from "./file-server.ts";

export const NEVER = new AbortController().signal;

/** The time is real, but waits between attempts are only recorded, and timers are counted. */
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

interface OpenOptions {
  readonly budgetBytes?: number;
  readonly minFreeBytes?: number;
  readonly fetch?: FetchOptions;
  readonly hardLink?: MakeLink;
}

/**
 * A server that is both the coordinator and the hub, a directory, and the stores that use them. The end of the test
 * closes all of them.
 */
export class StoreFixture implements AsyncDisposable {
  readonly server: FileServer;
  readonly directory: string;
  readonly clock = new ImpatientClock();
  readonly #stores: ModelStore[] = [];
  readonly #folders: FolderStore[] = [];

  private constructor(server: FileServer, directory: string) {
    this.server = server;
    this.directory = directory;
  }

  /** @param parent of the directory. */
  static async make(parent = tmpdir()): Promise<StoreFixture> {
    return new StoreFixture(await FileServer.start(), await mkdtemp(join(parent, "atoll-models-")));
  }

  async open(options: OpenOptions = {}): Promise<ModelStore> {
    const store = await ModelStore.open({
      directory: this.directory,
      budgetBytes: options.budgetBytes ?? 100_000_000,
      minFreeBytes: options.minFreeBytes ?? 0,
      clock: this.clock,
      fetch: this.#fetch(options),
    });
    this.#stores.push(store);
    return store;
  }

  /** The same directory with the folders in it. */
  async openFolders(options: OpenOptions = {}): Promise<{ models: ModelStore; folders: FolderStore }> {
    const models = await this.open(options);
    const context = { policy: resolveFetchPolicy(this.#fetch(options)), clock: this.clock };
    const { hardLink } = options;
    const folders = await FolderStore.open({
      models,
      directory: join(this.directory, "folders"),
      context,
      ...(hardLink === undefined ? {} : { hardLink }),
    });
    this.#folders.push(folders);
    return { models, folders };
  }

  /** Directories of the current leases. */
  async leases(): Promise<string[]> {
    return readdir(join(this.directory, "folders", "leases"));
  }

  #fetch({ fetch }: OpenOptions): FetchOptions {
    return { coordinatorUrl: this.server.url, hubEndpoint: this.server.url, stallMs: 20_000, ...fetch };
  }

  async files(): Promise<string[]> {
    return (await readdir(this.directory)).toSorted();
  }

  /** Returns the files in the directory that this process has open. Linux only. */
  async #openFiles(): Promise<string[]> {
    const descriptors = await readdir("/proc/self/fd").catch(() => []);
    const paths = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
    return paths.filter((path) => path.startsWith(this.directory));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const folders of this.#folders) await folders.close();
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

/** Returns the failure of a promise, which must fail. */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string; retryable?: boolean }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not fail");
}
