import type { RequestOptions } from "node:http";
import type { Duplex, Readable } from "node:stream";
import type Docker from "dockerode";
import type { Clock } from "../../../shared/clock.ts";
import { abortable } from "../../../shared/async/abortable.ts";
import { attach } from "./attach.ts";
import type { ContainerExit } from "./exit-failure.ts";
import { describeAddress, readCertificates, type EngineAddress } from "./engine-address.ts";

export interface EngineFacts {
  readonly name: "Docker" | "Podman";
  readonly version: string;
  readonly cpus: number;
  /** Names of the runtimes that the engine can start containers with; null when it does not report them. */
  readonly runtimes: readonly string[] | null;
  /** Limits that the engine cannot enforce; empty when it supports all of them. */
  readonly missing: readonly string[];
}

export interface EngineNetwork {
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly isInternal: boolean;
}

export interface EngineImage {
  /** `sha256:…`: identifies these bytes even when tags move. */
  readonly id: string;
  readonly bytes: number;
  /** `name@sha256:…` for each registry name that the image was pulled by. */
  readonly repoDigests: readonly string[];
  readonly volumes: readonly string[];
}

/** CPU limit of one processor, in the engine's unit of a billionth. */
export const NANO = 1e9;
/** Time limit of a call, except pulls. */
const MAX_CALL_MS = 60_000;

/** Client of an engine's HTTP API. Errors have a `statusCode` if the engine responded. */
export class ContainerEngine {
  readonly #docker: Docker;
  /** Client without a timeout, for pulls. */
  readonly #dockerNoTimeout: Docker;
  readonly #to: RequestOptions;
  readonly #clock: Clock;

  private constructor(docker: Docker, dockerNoTimeout: Docker, to: RequestOptions, clock: Clock) {
    this.#docker = docker;
    this.#dockerNoTimeout = dockerNoTimeout;
    this.#to = to;
    this.#clock = clock;
  }

  /** Returns a client without opening a connection; each call opens its own. */
  static async at(address: EngineAddress, clock: Clock): Promise<ContainerEngine> {
    const { default: Dockerode } = await import("dockerode");
    const to = await requestOptionsOf(address);
    // All fields are set, because dockerode reads missing ones from the environment.
    const unset = {
      host: undefined,
      port: undefined,
      socketPath: undefined,
      ca: undefined,
      cert: undefined,
      key: undefined,
    };
    const protocol = to.protocol === "https:" ? "https" : "http";
    const make = (timeout: number | undefined): Docker =>
      new Dockerode({ ...unset, ...to, protocol, timeout } as unknown as Docker.DockerOptions);
    return new ContainerEngine(make(MAX_CALL_MS), make(undefined), to, clock);
  }

  async facts(signal?: AbortSignal): Promise<EngineFacts> {
    const version = await this.#call(() => this.#docker.version(), signal);
    const info = (await this.#call(() => this.#docker.info(), signal)) as EngineInfo;
    const components = (version as { Components?: { Name: string }[] }).Components ?? [];
    const isPodman = components.some(({ Name }) => /podman/i.test(Name));
    return {
      name: isPodman ? "Podman" : "Docker",
      version: version.Version,
      cpus: info.NCPU,
      runtimes: info.Runtimes == null ? null : Object.keys(info.Runtimes),
      missing: missingOf(info),
    };
  }

  /** Returns the folder of the engine's images if it is on this machine; otherwise null. */
  async directory(): Promise<string | null> {
    if (this.#to.socketPath === undefined) return null;
    const { DockerRootDir } = (await this.#call(() => this.#docker.info())) as EngineInfo;
    return DockerRootDir ?? null;
  }

  /** Returns an image; null if absent. @param reference a name with tag or digest, or an image's id. */
  async image(reference: string): Promise<EngineImage | null> {
    try {
      const found = await this.#call(() => this.#docker.getImage(reference).inspect());
      const volumes = Object.keys(found.Config?.Volumes ?? {});
      return { id: found.Id, bytes: found.Size, repoDigests: found.RepoDigests ?? [], volumes };
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  /** Pulls an image and returns the engine's progress stream. Aborting ends the pull. @param tag a tag or digest. */
  async pull(repository: string, tag: string, signal: AbortSignal): Promise<Readable> {
    const stream = await this.#dockerNoTimeout.createImage({ fromImage: repository, tag, abortSignal: signal });
    return stream as Readable;
  }

  /** Removes one name of an image, and with the last name also its bytes. `in_use` means that nothing was removed. */
  async removeImage(reference: string): Promise<"removed" | "in_use" | "absent"> {
    try {
      await this.#call(() => this.#docker.getImage(reference).remove());
      return "removed";
    } catch (error) {
      if (statusOf(error) === 404) return "absent";
      if (statusOf(error) === 409) return "in_use";
      throw error;
    }
  }

  async create(options: Docker.ContainerCreateOptions & { readonly name: string }): Promise<void> {
    await this.#call(() => this.#docker.createContainer(options));
  }

  attach(name: string): Promise<Duplex> {
    return this.#call((signal) => attach(this.#to, name, signal));
  }

  async start(name: string): Promise<void> {
    await this.#call(() => this.#docker.getContainer(name).start());
  }

  /** Changes the CPU limit of an existing container. Not supported by Podman before 5. @param cpus in processors. */
  async setCpus(name: string, cpus: number): Promise<void> {
    await this.#call(() => this.#docker.getContainer(name).update({ NanoCpus: Math.round(cpus * NANO) }));
  }

  async kill(name: string): Promise<void> {
    await this.#call(() => this.#docker.getContainer(name).kill({ signal: "SIGKILL" }));
  }

  async exit(name: string): Promise<ContainerExit> {
    await this.#call((abortSignal) => this.#docker.getContainer(name).wait({ abortSignal }));
    const { State: state } = await this.#call(() => this.#docker.getContainer(name).inspect());
    return { code: state.ExitCode, isOutOfMemory: state.OOMKilled };
  }

  /** Kills and removes a container. Resolves even if it no longer exists. */
  async remove(name: string): Promise<void> {
    try {
      await this.#call(() => this.#docker.getContainer(name).remove({ force: true, v: true }));
    } catch (error) {
      // 409: a removal is already in progress.
      if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error;
    }
  }

  /** Returns the names of all containers with a label, running or not. */
  async containersWith(label: string): Promise<string[]> {
    const options = { all: true, filters: { label: [label] } };
    const found = await this.#call(() => this.#docker.listContainers(options));
    return found.map(({ Names: names, Id: id }) => names[0]?.replace(/^\//, "") ?? id);
  }

  async network(name: string): Promise<EngineNetwork | null> {
    try {
      const found = (await this.#call(() => this.#docker.getNetwork(name).inspect())) as NetworkInfo;
      return {
        driver: found.Driver,
        labels: found.Labels ?? {},
        options: found.Options ?? {},
        isInternal: found.Internal ?? false,
      };
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  async createNetwork(
    name: string,
    labels: Readonly<Record<string, string>>,
    options: Readonly<Record<string, string>>,
  ): Promise<void> {
    const params = {
      Name: name,
      Driver: "bridge",
      CheckDuplicate: true,
      EnableIPv6: false,
      Labels: { ...labels },
      Options: { ...options },
    };
    await this.#call(() => this.#docker.createNetwork(params));
  }

  /** Removes a network. No-op if it does not exist or still has containers. */
  async removeNetwork(name: string): Promise<void> {
    try {
      await this.#call(() => this.#docker.getNetwork(name).remove());
    } catch (error) {
      // 403 (Docker) and 409 (Podman): containers are attached.
      if (![403, 404, 409].includes(statusOf(error) ?? 0)) throw error;
    }
  }

  /** Adds a time limit: the client's promises may never settle when the engine dies during a response. */
  async #call<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(signal?.reason);
    const limit = this.#clock.schedule(MAX_CALL_MS, () => controller.abort(new Error("The engine did not respond")));
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await abortable(work(controller.signal), controller.signal);
    } finally {
      limit.cancel();
      signal?.removeEventListener("abort", onAbort);
    }
  }
}

/** Returns the engine's HTTP status; null when the engine could not be reached. */
export function statusOf(error: unknown): number | null {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === "number" ? status : null;
}

/** Returns the engine's error message, without the client's prefix, on one line of at most 300 characters. */
export function engineMessage(error: unknown): string {
  const reported = (error as { json?: { message?: unknown } } | null)?.json?.message;
  const text = typeof reported === "string" ? reported : error instanceof Error ? error.message : String(error);
  const plain = text.replace(/^\(HTTP code \d+\) [\w ]* - /, "");
  return plain.replaceAll(/\s+/g, " ").trim().slice(0, 300);
}

/** Fields of GET /networks/{name} that are used here. */
interface NetworkInfo {
  readonly Driver: string;
  readonly Internal?: boolean;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly Options?: Readonly<Record<string, string>> | null;
}

/** Fields of GET /info that are used here: the limits that the engine enforces, and the folder of its files. */
interface EngineInfo {
  readonly NCPU: number;
  readonly DockerRootDir?: string;
  readonly OSType?: string;
  readonly Runtimes?: Readonly<Record<string, unknown>> | null;
  readonly MemoryLimit?: boolean;
  readonly PidsLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly SecurityOptions?: readonly string[] | null;
}

function missingOf(info: EngineInfo): string[] {
  const hasSeccomp =
    info.SecurityOptions?.some((option) => /^name=seccomp\b(?!.*profile=unconfined)/.test(option)) ?? false;
  return [
    ...(info.OSType === undefined || info.OSType === "linux" ? [] : ["Linux containers"]),
    ...(info.MemoryLimit === false ? ["memory limits"] : []),
    ...(info.PidsLimit === false ? ["process limits"] : []),
    ...(info.CpuCfsQuota === false ? ["CPU limits"] : []),
    ...(hasSeccomp ? [] : ["seccomp"]),
  ];
}

async function requestOptionsOf(address: EngineAddress): Promise<RequestOptions> {
  if (address.kind === "socket") return { socketPath: address.path };
  const { host, port, certificates } = address;
  if (certificates === null) return { host, port };
  try {
    return { host, port, protocol: "https:", ...(await readCertificates(certificates)) };
  } catch (error) {
    throw new Error(`Cannot read the certificates for ${describeAddress(address)} in ${certificates}`, {
      cause: error,
    });
  }
}
