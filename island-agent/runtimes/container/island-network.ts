import { JobFailure } from "../../../shared/errors.ts";
import type { ContainerEngine } from "./engine.ts";
import { startFailureOf } from "./engine-failure.ts";

/** A network as the engine tells of it, as far as it matters here. */
export interface EngineNetwork {
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly isInternal: boolean;
}

/** Containers on the bridge do not reach each other. */
export const BRIDGE_OPTIONS = { "com.docker.network.bridge.enable_icc": "false" };

/** The network of an Island for Cargos that are granted one: made for the first that uses it, removed after the last. */
export class IslandNetwork {
  readonly name: string;
  readonly #labels: Readonly<Record<string, string>>;
  #uses = 0;
  /** Steps with the engine, one after another: none may find what another is about to remove. It never rejects. */
  #steps: Promise<unknown> = Promise.resolve();

  constructor(name: string, labels: Readonly<Record<string, string>>) {
    this.name = name;
    this.#labels = labels;
  }

  /** To be followed by `release`, unless it throws. @throws {JobFailure} where one of that name is not as it has to be. */
  async acquire(engine: ContainerEngine): Promise<void> {
    this.#uses += 1;
    try {
      await this.#inTurn(() => this.#ensure(engine));
    } catch (error) {
      this.#uses -= 1;
      throw startFailureOf(error);
    }
  }

  /** @throws as the engine does; the network is left to the next sweep then. */
  async release(engine: ContainerEngine): Promise<void> {
    this.#uses -= 1;
    await this.removeUnused(engine);
  }

  /** Removes it where it is this Island's and nobody here uses it. */
  async removeUnused(engine: ContainerEngine): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#uses > 0) return;
      const found = await engine.network(this.name);
      if (found !== null && this.#faultOf(found) === null) await engine.removeNetwork(this.name);
    });
  }

  async #ensure(engine: ContainerEngine): Promise<void> {
    const found = await engine.network(this.name);
    if (found === null) return engine.createNetwork(this.name, this.#labels, BRIDGE_OPTIONS);
    const fault = this.#faultOf(found);
    if (fault === null) return;
    const text = `The container engine of this Island has a network ${this.name} that ${fault}; its owner can remove it`;
    throw new JobFailure("runtime_unavailable", text, { retryable: true });
  }

  #faultOf({ driver, labels, options, isInternal }: EngineNetwork): string | null {
    const has = (own: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean =>
      Object.entries(wanted).every(([key, value]) => own[key] === value);
    if (!has(labels, this.#labels)) return "this Island did not make";
    if (driver !== "bridge" || isInternal) return "is no plain bridge";
    return has(options, BRIDGE_OPTIONS) ? null : "lets containers reach each other";
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#steps.then(step);
    this.#steps = done.catch(() => undefined);
    return done;
  }
}
