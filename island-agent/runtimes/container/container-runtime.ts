import { randomUUID } from "node:crypto";
import type { CargoManifest, ContainerSpec } from "../../../shared/cargo.ts";
import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Logger } from "../../../shared/logger.ts";
import { abortable } from "../../../shared/async/abortable.ts";
import type { Admission, CargoRuntime, MemoryUse, ProbeResult } from "../runtime.ts";
import { containerOptions, type ContainerPlan } from "./container-options.ts";
import { DEFAULT_NAME_SERVERS } from "../../config/default-name-servers.ts";
import { openEgressFilter, type EgressFilterOptions } from "./egress-filter.ts";
import type { EngineSearch } from "./engine-address.ts";
import { GpuDevices } from "./gpu-devices.ts";
import { findEngine, type FoundEngine } from "./find-engine.ts";
import type { ImageLease, ImageStore } from "./image-store.ts";
import { openIslandNetwork, type IslandNetwork, bridgeNameOf } from "./island-network.ts";
import { JobContainer } from "./job-container.ts";
import { LoadedContainer } from "./loaded-container.ts";
import { posix } from "node:path";

/** Folders that the engine mounts, where an image may not declare volumes. */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev"];
/** Exception among the system folders: shared memory may be a tmpfs of the container. */
const SHARED_MEMORY = "/dev/shm";

/** Limits of Cargos that are loaded later. {@link ContainerRuntime.setLimits} replaces them. */
export interface ContainerLimits {
  /** CPU limit of each container, in processors; reduced to the engine's processors. */
  readonly cpus: number;
  /** Jobs of one Cargo that run at the same time if their memory fits `ramBytes`. */
  readonly concurrency: number;
  /** RAM limit for all Cargos together. */
  readonly ramBytes: number;
}

export interface ContainerRuntimeOptions extends ContainerLimits {
  readonly search: EngineSearch;
  readonly images: Pick<ImageStore, "acquire">;
  /** Label of this Island's containers; several Islands may share an engine. At most 63 of [a-z0-9-]. */
  readonly islandId: string;
  readonly clock: Clock;
  /** Whether the owner shares a GPU of this host. */
  readonly hasGpu: boolean;
  /** GPUs, or parts of GPUs; each container gets one. Null (default): one container at a time gets all GPUs. */
  readonly gpuDevices?: readonly string[] | null;
  /** Name servers of containers with a network. Default: {@link DEFAULT_NAME_SERVERS}. */
  readonly nameServers?: readonly string[];
  /** Runtime of the engine, such as runsc. Default null, which selects the engine's default. */
  readonly engineRuntime?: string | null;
  /** Options of the firewall rules for containers with a network. Default: nftables of this host. */
  readonly egress?: Omit<EgressFilterOptions, "bridge">;
  /** Limit of processes and threads of one container. Default 512. */
  readonly pids?: number;
  /** Window in which the warm pool measures demand. Default 60 s. */
  readonly warmWindowMs?: number;
  /** Time that an aborted run waits for the removal of its container. Default 1,500 ms. */
  readonly killWaitMs?: number;
  readonly log?: Pick<Logger, "info">;
}

/** Minimum memory of a container. An engine cannot start a container with less; 0 would mean no limit. */
const MIN_MEMORY_BYTES = 32 * MIB;
const LABEL = "org.atoll.island";
const DEFAULTS = {
  pids: 512,
  warmWindowMs: 60_000,
  killWaitMs: 1_500,
  log: { info: () => undefined },
  nameServers: DEFAULT_NAME_SERVERS,
  engineRuntime: null,
  gpuDevices: null,
  egress: { platform: process.platform },
};

/** Runs images with Docker or Podman, in one container per job. */
export class ContainerRuntime implements CargoRuntime {
  readonly type = "container";
  readonly #options: Required<ContainerRuntimeOptions>;
  #limits: ContainerLimits;
  /** Names of the containers that this process created and has not removed yet. */
  readonly #ours = new Set<string>();
  readonly #labels: Readonly<Record<string, string>>;
  readonly #network: IslandNetwork;
  readonly #gpuDevices: GpuDevices;

  constructor(options: ContainerRuntimeOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#limits = options;
    this.#gpuDevices = new GpuDevices(this.#options.gpuDevices);
    this.#labels = { [LABEL]: options.islandId };
    const filter = openEgressFilter({ ...this.#options.egress, bridge: bridgeNameOf(options.islandId) });
    this.#network = openIslandNetwork(`atoll-${options.islandId}`, this.#labels, filter);
  }

  setLimits(limits: ContainerLimits): void {
    this.#limits = limits;
  }

  async probe(signal: AbortSignal): Promise<ProbeResult> {
    try {
      const { facts } = await this.#find(signal);
      return { usable: true, version: `${facts.name} ${facts.version}` };
    } catch (error) {
      return { usable: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /**
   * Returns why Cargos cannot have a network here; null if they can. Creates the network and removes it.
   * @throws `signal.reason`
   */
  async networkProblem(signal: AbortSignal): Promise<string | null> {
    try {
      const { engine } = await this.#find(signal);
      await abortable(this.#network.acquire(engine), signal);
      await this.#network.release(engine);
      return null;
    } catch (error) {
      signal.throwIfAborted();
      return error instanceof Error ? error.message : String(error);
    }
  }

  /**
   * Pulls a missing image and starts a container that waits for the first job. The estimate is the limit that the
   * engine enforces.
   * @throws {JobFailure} or `signal.reason`.
   */
  async load(
    cargo: CargoManifest,
    _modelPath: string | null,
    signal: AbortSignal,
    admit?: Admission,
  ): Promise<LoadedContainer> {
    signal.throwIfAborted();
    await admit?.(async () => this.#memoryOf(cargo));
    const spec = this.#specOf(cargo);
    const found = await this.#find(signal);
    await this.#removeLeftovers(found).catch((error: unknown) => this.#logLeftovers(error));
    const lease = await this.#options.images.acquire(cargo.slug, spec, signal);
    try {
      return await this.#open(cargo, spec, found, lease, signal);
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  /**
   * Removes the containers and the network of an earlier process of this Island. Called at the agent's start and at
   * each load. No-op without an engine.
   * @returns number of removed containers.
   */
  async sweep(signal: AbortSignal): Promise<number> {
    try {
      return await this.#removeLeftovers(await this.#find(signal));
    } catch (error) {
      signal.throwIfAborted();
      this.#logLeftovers(error);
      return 0;
    }
  }

  async #open(
    cargo: CargoManifest,
    spec: ContainerSpec,
    { engine, facts }: FoundEngine,
    lease: ImageLease,
    signal: AbortSignal,
  ): Promise<LoadedContainer> {
    const { cpus } = this.#limits;
    const { clock, pids, warmWindowMs, killWaitMs, log, nameServers, engineRuntime } = this.#options;
    const memoryBytes = limitOf(cargo);
    const plan: Omit<ContainerPlan, "name" | "gpuDevice"> = {
      imageId: lease.image.id,
      volumes: volumeFolders(lease.key, lease.image.volumes),
      spec,
      limits: { memoryBytes, pids, cpus: Math.min(cpus, facts.cpus) },
      labels: this.#labels,
      networkName: this.#network.name,
      nameServers,
      engineRuntime,
    };
    if (spec.network) await this.#network.acquire(engine);
    const loaded = new LoadedContainer({
      start: async (listener) => {
        if (spec.network) await this.#network.guard();
        const gpuDevice = spec.gpu ? this.#gpuDevices.take() : null;
        const options = containerOptions({ ...plan, gpuDevice, name: `atoll-${randomUUID()}` });
        this.#ours.add(options.name);
        return JobContainer.start(engine, options, clock, {
          listener,
          onLeft: () => {
            this.#ours.delete(options.name);
            this.#gpuDevices.give(gpuDevice);
          },
        });
      },
      clock,
      concurrency: this.#concurrencyOf(cargo),
      memory: this.#memoryOf(cargo),
      memoryBytes,
      warmWindowMs,
      killWaitMs,
      onDisposed: async () => {
        lease.release();
        if (spec.network) await this.#network.release(engine).catch((error: unknown) => this.#logLeftovers(error));
      },
      log,
    });
    try {
      await abortable(loaded.warm(), signal);
      log.info(
        { cargo: cargo.slug, image: lease.key, engine: `${facts.name} ${facts.version}` },
        "Containers are ready for jobs",
      );
      return loaded;
    } catch (error) {
      const disposal = loaded[Symbol.asyncDispose]();
      // Do not wait after an abort, because the engine may hang.
      if (!signal.aborted) await disposal;
      throw error;
    }
  }

  async #find(signal: AbortSignal): Promise<FoundEngine> {
    const found = await findEngine(this.#options.search, this.#options.clock, signal);
    const { engineRuntime: wanted } = this.#options;
    const { name, version, runtimes } = found.facts;
    if (wanted === null || runtimes?.includes(wanted) === true) return found;
    const known = runtimes === null ? "lists no runtimes" : `knows ${runtimes.join(", ")}`;
    const text = `containers.runtime is ${wanted}, but ${name} ${version} ${known}. Add it to the engine, or unset containers.runtime`;
    throw new JobFailure("runtime_unavailable", text, { retryable: true });
  }

  async #removeLeftovers({ engine }: FoundEngine): Promise<number> {
    const found = await engine.containersWith(`${LABEL}=${this.#options.islandId}`);
    const left = found.filter((name) => !this.#ours.has(name));
    await Promise.all(left.map((name) => engine.remove(name)));
    await this.#network.removeUnused(engine);
    if (left.length > 0)
      this.#options.log.info({ count: left.length }, "Removed containers of an earlier agent process");
    return left.length;
  }

  #logLeftovers(error: unknown): void {
    this.#options.log.info(
      { reason: String(error) },
      "Could not remove the containers or the network of an earlier agent process",
    );
  }

  #specOf({ slug, container }: CargoManifest): ContainerSpec {
    if (container === undefined) throw new JobFailure("model_invalid", `Cargo ${slug} has no image`);
    if (container.gpu && !this.#options.hasGpu) {
      const text = `Cargo ${slug} needs a GPU, but this Island does not share one`;
      throw new JobFailure("runtime_unavailable", text, { retryable: true });
    }
    return container;
  }

  #memoryOf(cargo: CargoManifest): MemoryUse {
    const vramBytes = cargo.container?.gpu === true ? cargo.requiredVramBytes : 0;
    return { ramBytes: limitOf(cargo) * this.#concurrencyOf(cargo), vramBytes };
  }

  /**
   * Returns how many jobs of a Cargo run at the same time. GPU memory cannot be divided among containers, so a GPU
   * Cargo runs one job at a time on each device that the owner lists.
   */
  #concurrencyOf(cargo: CargoManifest): number {
    const { ramBytes, concurrency } = this.#limits;
    const fitting = Math.floor(ramBytes / limitOf(cargo));
    const most = Math.max(1, Math.min(concurrency, fitting));
    return cargo.container?.gpu === true ? Math.min(most, this.#gpuDevices.count) : most;
  }
}

function limitOf({ requiredRamBytes }: CargoManifest): number {
  return Math.max(requiredRamBytes, MIN_MEMORY_BYTES);
}

/**
 * Returns the volumes that an image declares, normalized and without duplicates. They are checked here because an
 * engine reports an invalid one only as a failed start.
 * @param imageName for the error.
 * @throws {JobFailure} `model_invalid`: no Island can mount it.
 */
function volumeFolders(imageName: string, declared: readonly string[]): string[] {
  return [...new Set(declared.map((volume) => plainFolder(imageName, volume)))];
}

function plainFolder(imageName: string, volume: string): string {
  const folder = posix.resolve("/", volume);
  const isSystem = SYSTEM_FOLDERS.some((system) => folder === system || folder.startsWith(`${system}/`));
  if (posix.isAbsolute(volume) && folder !== "/" && (!isSystem || folder === SHARED_MEMORY)) return folder;
  const text = `The image ${imageName} declares the volume ${JSON.stringify(volume)}. A volume must be an absolute path other than / and outside ${SYSTEM_FOLDERS.join(", ")}`;
  throw new JobFailure("model_invalid", text);
}
