import { createHash } from "node:crypto";
import { JobFailure } from "../../../shared/errors.ts";
import type { ContainerEngine, EngineNetwork } from "./engine.ts";
import type { EgressFilter } from "./egress-filter.ts";
import { startFailureOf } from "./engine-failure.ts";

/** Containers on the bridge cannot reach each other. */
const BRIDGE_OPTIONS = { "com.docker.network.bridge.enable_icc": "false" };

const BRIDGE_NAME = "com.docker.network.bridge.name";

/** Name of the bridge's interface; as long as Linux allows. @param islandId several Islands may share an engine. */
export function bridgeNameOf(islandId: string): string {
  return `atl${createHash("sha256").update(islandId).digest("hex").slice(0, 12)}`;
}

/**
 * The network for Cargos that are granted one: a bridge of its own, behind a filter. Created for the first user and removed after
 * the last.
 */
export class IslandNetwork {
  readonly name: string;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #filter: EgressFilter;
  #uses = 0;
  /** Serialises calls to the engine, so that none uses a network that another removes. Never rejects. */
  #steps: Promise<unknown> = Promise.resolve();

  constructor(name: string, labels: Readonly<Record<string, string>>, filter: EgressFilter) {
    this.name = name;
    this.#labels = labels;
    this.#filter = filter;
  }

  /**
   * Call `release` after use, unless this throws.
   * @throws {JobFailure} when a network of that name has other settings, or its traffic cannot be filtered.
   */
  async acquire(engine: ContainerEngine): Promise<void> {
    this.#uses += 1;
    try {
      await this.#inTurn(() => this.#ensure(engine));
    } catch (error) {
      this.#uses -= 1;
      throw startFailureOf(error);
    }
  }

  /**
   * To be called before a container starts: a firewall that is loaded anew removes the rules of others, and then nothing may start
   * behind the bridge. @throws {JobFailure}
   */
  async guard(): Promise<void> {
    await this.#filter.install();
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
      if (found === null || this.#faultOf(found) !== null) return;
      await engine.removeNetwork(this.name);
      // Containers that are still attached keep the network, and then the rules, too.
      if ((await engine.network(this.name)) === null) await this.#filter.remove();
    });
  }

  async #ensure(engine: ContainerEngine): Promise<void> {
    // Before the bridge: nothing behind it is ever unfiltered.
    await this.#filter.install();
    const found = await engine.network(this.name);
    const fault = found === null ? null : this.#faultOf(found);
    if (fault !== null) {
      const text = `The container engine of this Island has a network ${this.name} that ${fault}; its owner can remove it`;
      throw new JobFailure("runtime_unavailable", text, { retryable: true });
    }
    const { bridge } = this.#filter;
    if (found?.options[BRIDGE_NAME] !== bridge) {
      // Agents of earlier versions let the engine choose the bridge's name.
      if (found !== null) await engine.removeNetwork(this.name);
      await engine.createNetwork(this.name, this.#labels, { ...BRIDGE_OPTIONS, [BRIDGE_NAME]: bridge });
    }
    await this.#filter.assertHere();
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
