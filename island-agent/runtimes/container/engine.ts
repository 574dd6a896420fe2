import type { RequestOptions } from "node:http";
import type { Duplex, Readable } from "node:stream";
import type Docker from "dockerode";
import type { Clock } from "../../../shared/clock.ts";
import { abortable } from "../../../shared/abortable.ts";
import { attach } from "./attach.ts";
import type { ContainerExit } from "./exit-words.ts";
import type { EngineNetwork } from "./island-network.ts";
import { describeAddress, readCertificates, type EngineAddress } from "./engine-address.ts";

/** What the engine says of itself and its host. */
export interface EngineFacts {
  readonly name: "Docker" | "Podman";
  readonly version: string;
  readonly cpus: number;
  /** What it cannot hold a container to; empty when it can do all that is asked of it. */
  readonly missing: readonly string[];
}

export interface EngineImage {
  /** `sha256:…`; names these bytes whatever becomes of tags. */
  readonly id: string;
  readonly bytes: number;
  /** `name@sha256:…`, one for each registry name that it was pulled by. */
  readonly repoDigests: readonly string[];
  /** Folders that the image wants kept outside its root. */
  readonly volumes: readonly string[];
}

/** The engine's unit of processor time is a billionth of a processor. */
export const NANO = 1e9;
/** Nothing that is asked of an engine takes so long on a machine that works; a pull is not held to it. */
const CALL_LIMIT_MS = 60_000;

/** One engine, by its HTTP API. Errors carry `statusCode` where the engine answered, and none where it could not be asked. */
export class ContainerEngine {
  readonly #docker: Docker;
  /** The same without a limit on silence. */
  readonly #patient: Docker;
  readonly #to: RequestOptions;
  readonly #clock: Clock;

  private constructor(docker: Docker, patient: Docker, to: RequestOptions, clock: Clock) {
    this.#docker = docker;
    this.#patient = patient;
    this.#to = to;
    this.#clock = clock;
  }

  /** Opens no connection yet; each call has its own. */
  static async at(address: EngineAddress, clock: Clock): Promise<ContainerEngine> {
    const { default: Dockerode } = await import("dockerode");
    const to = await requestOptionsOf(address);
    // All of them, as what is left out would be read from the process's environment.
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
    return new ContainerEngine(make(CALL_LIMIT_MS), make(undefined), to, clock);
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
      missing: missingOf(info),
    };
  }

  /** Null when the engine does not have it. @param reference a name with tag or digest, or an image's id. */
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

  /** @param tag a tag or a digest. Gives the engine's report as it comes; ending the signal ends the pull. */
  async pull(repository: string, tag: string, signal: AbortSignal): Promise<Readable> {
    const stream = await this.#patient.createImage({ fromImage: repository, tag, abortSignal: signal });
    return stream as Readable;
  }

  /** Takes one name from an image, and the image's bytes with the last one. `in_use` by some container: nothing is done. */
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

  /** Changes the limit of a container that exists. Podman before 5 cannot. @param cpus processors' worth of time. */
  async setCpus(name: string, cpus: number): Promise<void> {
    await this.#call(() => this.#docker.getContainer(name).update({ NanoCpus: Math.round(cpus * NANO) }));
  }

  async kill(name: string): Promise<void> {
    await this.#call(() => this.#docker.getContainer(name).kill({ signal: "SIGKILL" }));
  }

  /** Waits until the container does not run. */
  async exit(name: string): Promise<ContainerExit> {
    await this.#call((abortSignal) => this.#docker.getContainer(name).wait({ abortSignal }));
    const { State: state } = await this.#call(() => this.#docker.getContainer(name).inspect());
    return { code: state.ExitCode, isOutOfMemory: state.OOMKilled };
  }

  /** Kills it where it runs. Resolves when it is gone, whoever removed it. */
  async remove(name: string): Promise<void> {
    try {
      await this.#call(() => this.#docker.getContainer(name).remove({ force: true, v: true }));
    } catch (error) {
      // 409: it is being removed already.
      if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error;
    }
  }

  /** Names of the containers that bear a label, running or not. */
  async containersWith(label: string): Promise<string[]> {
    const options = { all: true, filters: { label: [label] } };
    const found = await this.#call(() => this.#docker.listContainers(options));
    return found.map(({ Names: names, Id: id }) => names[0]?.replace(/^\//, "") ?? id);
  }

  /** Null when there is none of that name. */
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
    const wish = { Name: name, Driver: "bridge", CheckDuplicate: true, Labels: { ...labels }, Options: { ...options } };
    await this.#call(() => this.#docker.createNetwork(wish));
  }

  /** Does nothing where it is gone already, or has containers. */
  async removeNetwork(name: string): Promise<void> {
    try {
      await this.#call(() => this.#docker.getNetwork(name).remove());
    } catch (error) {
      // 403 (Docker) and 409 (Podman): containers are on it.
      if (![403, 404, 409].includes(statusOf(error) ?? 0)) throw error;
    }
  }

  /** The client's promises may stay open for ever when the engine dies in the middle of an answer. */
  async #call<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(signal?.reason);
    const limit = this.#clock.schedule(CALL_LIMIT_MS, () => controller.abort(new Error("The engine did not answer")));
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await abortable(work(controller.signal), controller.signal);
    } finally {
      limit.cancel();
      signal?.removeEventListener("abort", onAbort);
    }
  }
}

/** The engine's HTTP status; null when it could not be asked. */
export function statusOf(error: unknown): number | null {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === "number" ? status : null;
}

/** What the engine says is wrong, without the client's decoration, as one line of at most 300 characters. */
export function engineMessage(error: unknown): string {
  const said = (error as { json?: { message?: unknown } } | null)?.json?.message;
  const text = typeof said === "string" ? said : error instanceof Error ? error.message : String(error);
  const plain = text.replace(/^\(HTTP code \d+\) [\w ]* - /, "");
  return plain.replaceAll(/\s+/g, " ").trim().slice(0, 300);
}

/** The parts of GET /networks/{name} that say what a network is. */
interface NetworkInfo {
  readonly Driver: string;
  readonly Internal?: boolean;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly Options?: Readonly<Record<string, string>> | null;
}

/** The parts of GET /info that say what limits it can hold a container to. */
interface EngineInfo {
  readonly NCPU: number;
  readonly OSType?: string;
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
    ...(info.PidsLimit === false ? ["limits of processes"] : []),
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
