import { expect } from "vitest";
import { CargoPool, type CargoLease } from "../../../island-agent/execution/cargo-pool.ts";
import { settle } from "../../support/event-log.ts";
import { FakeRuntime } from "../../support/models/fake-runtime.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeLog, FakeFiles, makeManifest, NEVER } from "../builders.ts";
import { NO_ENGINES } from "../no-engines.ts";

/** RAM and VRAM of the Island in these tests, in bytes. */
export const RAM_BYTES = 20;
export const CAPS = { ramBytes: RAM_BYTES, vramBytes: 8 };
export const MODEL = { url: "https://files.example/a.gguf", sha256: null, sizeBytes: null };

/** A pool with fake dependencies. */
export class PoolWorld implements AsyncDisposable {
  readonly runtime = new FakeRuntime();
  readonly files = new FakeFiles();
  readonly clock = new ManualClock();
  readonly log = new FakeLog();
  /** Number of `onChange` calls. */
  changes = 0;
  /** Free RAM of the machine, or null if it is unknown. */
  freeRamBytes: number | null = null;
  readonly pool = new CargoPool({
    engines: NO_ENGINES,
    runtimes: new Map([
      ["llmcpp" as const, this.runtime],
      ["wasm" as const, this.runtime],
    ]),
    files: this.files,
    clock: this.clock,
    log: this.log,
    caps: CAPS,
    freeRamBytes: () => this.freeRamBytes,
    onChange: () => (this.changes += 1),
  });

  acquire(slug: string, requiredRamBytes = 10, signal = NEVER): Promise<CargoLease> {
    return this.pool.acquire(makeManifest({ slug, requiredRamBytes }), signal);
  }

  /** Returns the slugs of the loaded Cargos. */
  slugs(): string[] {
    return this.pool.loaded().map(({ slug }) => slug);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const slug of this.runtime.heldDisposals) this.runtime.go(`dispose ${slug}`);
    await this.pool.close();
    expect(this.runtime.mostBytes, "memory cap").toBeLessThanOrEqual(RAM_BYTES);
  }
}

/** Returns "waiting" until the promise settles, and then its value or its error. */
export async function stateOf<T>(promise: Promise<T>): Promise<T | "waiting"> {
  await settle();
  return Promise.race([promise, Promise.resolve("waiting" as const)]);
}
