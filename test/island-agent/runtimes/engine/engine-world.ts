import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AttachedEngine } from "../../../../island-agent/runtimes/engine/attached-engine.ts";
import { engineCargo } from "../../../../island-agent/runtimes/engine/engine-cargo.ts";
import { openEngineFacts, type EngineFacts } from "../../../../island-agent/runtimes/engine/engine-facts.ts";
import type { LoadedCargo, RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import type { CargoManifest } from "../../../../shared/cargo.ts";
import { systemClock, type Clock } from "../../../../shared/clock.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { FakeLog, makeManifest, NEVER } from "../../builders.ts";

interface Options {
  readonly apiKey?: string | null;
  readonly slots?: number | null;
  readonly clock?: Clock;
  /** Default: those of an empty folder. */
  readonly facts?: EngineFacts;
}

export interface Run {
  readonly items: OutputItem[];
  readonly text: string;
  readonly result: RunResult;
}

/** An engine as an agent attaches it. */
export class EngineWorld implements AsyncDisposable {
  readonly engine: AttachedEngine;
  readonly log = new FakeLog();
  /** Number of `onChange` calls. */
  changes = 0;
  readonly #directory: string;

  private constructor(engine: (world: EngineWorld) => AttachedEngine, directory: string) {
    this.#directory = directory;
    this.engine = engine(this);
  }

  /** Attaches the engine, and waits until its first check is over. */
  static async open(
    url: string,
    { apiKey = null, slots = 1, clock = systemClock, ...options }: Options = {},
  ): Promise<EngineWorld> {
    const directory = await mkdtemp(join(tmpdir(), "atoll-engine-"));
    const facts = options.facts ?? (await openEngineFacts(directory));
    const world = new EngineWorld(({ log, noteChange: onChange }) => {
      return new AttachedEngine({ url, apiKey, slots, facts, clock, log, onChange });
    }, directory);
    await world.engine.check();
    return world;
  }

  readonly noteChange = (): void => {
    this.changes += 1;
  };

  /** Loads a Cargo of the engine's first model, or of the named one. */
  load(manifest: Partial<CargoManifest> = {}, id?: string): LoadedCargo {
    const served = this.engine.served.find(({ model }) => id === undefined || model.id === id);
    if (served === undefined)
      throw new Error(`The engine serves no model ${id ?? ""}: ${this.engine.status().problem}`);
    return engineCargo(this.engine, served, makeManifest(manifest));
  }

  /** Runs a chat, by default with the prompt "Hi". */
  async chat(input: Record<string, unknown> = {}, signal = NEVER, cargo = this.load()): Promise<Run> {
    const items: OutputItem[] = [];
    const request = { input: { prompt: "Hi", ...input }, resume: null };
    const result = await cargo.run(request, (item) => items.push(item), signal);
    return { items, text: items.map((item) => (item.type === "token" ? item.content : "")).join(""), result };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
