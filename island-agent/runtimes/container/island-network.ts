import { createHash } from "node:crypto";
import { JobFailure } from "../../../shared/errors.ts";
import type { ContainerEngine, EngineNetwork } from "./engine.ts";
import type { EgressFilter } from "./egress-filter.ts";
import { startFailureOf } from "./engine-failure.ts";

/** Options of the bridge: its containers cannot reach each other. */
const BRIDGE_OPTIONS = { "com.docker.network.bridge.enable_icc": "false" };

const BRIDGE_NAME = "com.docker.network.bridge.name";

/**
 * Returns the bridge's interface name, cut to the length that Linux allows. It is unique for the Island, because
 * several Islands may share an engine.
 */
export function bridgeNameOf(islandId: string): string {
  return `atl${createHash("sha256").update(islandId).digest("hex").slice(0, 12)}`;
}

/**
 * Opens the network for Cargos that are granted one: a separate bridge behind a filter. It is created for the first
 * user and removed after the last.
 */
export function openIslandNetwork(name: string, labels: Readonly<Record<string, string>>, filter: EgressFilter) {
  let uses = 0;
  /** Serializes calls to the engine, so that no call uses a network that another removes. Never rejects. */
  let steps: Promise<unknown> = Promise.resolve();

  /**
   * Acquires the network. Call `release` after use, unless this throws.
   * @throws {JobFailure} when a network of that name has other settings, or its traffic cannot be filtered.
   */
  async function acquire(engine: ContainerEngine): Promise<void> {
    uses += 1;
    try {
      await serialize(() => create(engine));
    } catch (error) {
      uses -= 1;
      throw startFailureOf(error);
    }
  }

  /**
   * Restores the filter before a container starts. Reloading a firewall removes the rules of other programs; without
   * the filter no container may start behind the bridge. @throws {JobFailure}
   */
  async function guard(): Promise<void> {
    await filter.install();
  }

  /** Releases the network. @throws the engine's error; the next sweep then removes the network. */
  async function release(engine: ContainerEngine): Promise<void> {
    uses -= 1;
    await removeUnused(engine);
  }

  /** Removes the network if it is this Island's and not in use. */
  async function removeUnused(engine: ContainerEngine): Promise<void> {
    await serialize(async () => {
      if (uses > 0) return;
      const found = await engine.network(name);
      if (found === null || faultOf(found) !== null) return;
      await engine.removeNetwork(name);
      // If containers are attached, the network stays, and so must the rules.
      if ((await engine.network(name)) === null) await filter.remove();
    });
  }

  async function create(engine: ContainerEngine): Promise<void> {
    // Install the filter before the bridge, so that no traffic behind it is unfiltered.
    await filter.install();
    const found = await engine.network(name);
    const fault = found === null ? null : faultOf(found);
    if (fault !== null) {
      const text = `The container engine of this Island has a network ${name} that ${fault}. Its owner can remove the network`;
      throw new JobFailure("runtime_unavailable", text, { retryable: true });
    }
    const { bridge } = filter;
    if (found?.options[BRIDGE_NAME] !== bridge) {
      // Agents of earlier versions let the engine choose the bridge's name.
      if (found !== null) await engine.removeNetwork(name);
      await engine.createNetwork(name, labels, { ...BRIDGE_OPTIONS, [BRIDGE_NAME]: bridge });
    }
    await filter.assertHere();
  }

  function faultOf(network: EngineNetwork): string | null {
    const has = (own: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean =>
      Object.entries(wanted).every(([key, value]) => own[key] === value);
    if (!has(network.labels, labels)) return "this Island did not create";
    if (network.driver !== "bridge" || network.isInternal) return "is not a plain bridge";
    return has(network.options, BRIDGE_OPTIONS) ? null : "lets containers reach each other";
  }

  function serialize<T>(step: () => Promise<T>): Promise<T> {
    const done = steps.then(step);
    steps = done.catch(() => undefined);
    return done;
  }

  return { name, acquire, guard, release, removeUnused };
}

export type IslandNetwork = ReturnType<typeof openIslandNetwork>;
