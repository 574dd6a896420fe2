import { JobFailure } from "../../../shared/errors.ts";
import type { ContainerEngine, EngineNetwork } from "./engine.ts";
import { startFailureOf } from "./engine-failure.ts";

/** Containers on the bridge cannot reach each other. */
const BRIDGE_OPTIONS = { "com.docker.network.bridge.enable_icc": "false" };

/** The network for Cargos that are granted one. Created for the first user and removed after the last. */
export class IslandNetwork {
  readonly name: string;
  readonly #labels: Readonly<Record<string, string>>;
  #uses = 0;
  /** Serialises calls to the engine, so that none uses a network that another removes. Never rejects. */
  #steps: Promise<unknown> = Promise.resolve();

  constructor(name: string, labels: Readonly<Record<string, string>>) {
    this.name = name;
    this.#labels = labels;
  }

  /** Call `release` after use, unless this throws. @throws {JobFailure} when a network of that name has other settings. */
  async acquire(engine: ContainerEngine): Promise<void> {
    this.#uses += 1;
    try {
      await this.#inTurn(() => this.#ensure(engine));
    } catch (error) {
      this.#uses -= 1;
      throw startFailureOf(error);
    }
  }

  /** @throws the engine's error; the next sweep then removes the network. */
  async release(engine: ContainerEngine): Promise<void> {
    this.#uses -= 1;
    await this.removeUnused(engine);
  }

  /** Removes the network if it is this Island's and not in use. */
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
    if (!has(labels, this.#labels)) return "this Island did not create";
    if (driver !== "bridge" || isInternal) return "is not a plain bridge";
    return has(options, BRIDGE_OPTIONS) ? null : "lets containers reach each other";
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#steps.then(step);
    this.#steps = done.catch(() => undefined);
    return done;
  }
}
