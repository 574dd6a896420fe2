import type Docker from "dockerode";
import type { ContainerSpec } from "../../../shared/cargo.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { gpuRequest } from "./gpu-devices.ts";
import { NANO } from "./engine.ts";

interface ContainerLimits {
  /** RAM limit, which includes tmpfs. There is no swap. */
  readonly memoryBytes: number;
  /** CPU limit in processors, possibly a fraction. */
  readonly cpus: number;
  /** Maximum number of processes and threads. */
  readonly pids: number;
}

export interface ContainerPlan {
  readonly name: string;
  /** `sha256:…` */
  readonly imageId: string;
  readonly volumes: readonly string[];
  readonly spec: ContainerSpec;
  readonly limits: ContainerLimits;
  readonly labels: Readonly<Record<string, string>>;
  /** Network of the container if `spec.network` is granted. */
  readonly networkName: string;
  /** Name servers for `spec.network`. Otherwise the engine would query those of the host under its name. */
  readonly nameServers: readonly string[];
  /** GPU device that is used if `spec.gpu` is granted; null for all devices. */
  readonly gpuDevice: string | null;
  /** Runtime of the engine, such as runsc; null for its default. */
  readonly engineRuntime: string | null;
}

export interface ContainerOptions extends Docker.ContainerCreateOptions {
  readonly name: string;
  /** The types of dockerode lack the cgroup namespace. */
  readonly HostConfig: Docker.HostConfig & { readonly CgroupnsMode: "private" };
}

/** The unprivileged user 65534 of all Linux systems; owns no files. */
const NOBODY = "65534:65534";
const OPEN_FILES = 1_024;
/**
 * Makes the kernel kill a Cargo before the owner's programs when the host runs out of memory. This is not isolation,
 * because on some kernels a program can lower its own score.
 */
const OOM_SCORE = 500;

/** Returns the options of `docker create`, which isolate a job from its host. Source: decision 0033. */
export function containerOptions(plan: ContainerPlan): ContainerOptions {
  const { name, imageId, spec, limits, labels, volumes, networkName, nameServers, engineRuntime } = plan;
  const scratch = `rw,noexec,nosuid,nodev,size=${scratchBytes(limits.memoryBytes)},mode=1777`;
  return {
    name,
    Image: imageId,
    ...(spec.command === null ? {} : { Entrypoint: spec.command, Cmd: [] }),
    // The image's home may belong to another user, and the root is read-only.
    Env: ["HOME=/tmp"],
    User: NOBODY,
    Hostname: "cargo",
    Labels: { ...labels },
    // Programs need no time for cleanup.
    StopSignal: "SIGKILL",
    // The image's health check would run commands during the job.
    Healthcheck: { Test: ["NONE"] },
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    NetworkDisabled: !spec.network,
    HostConfig: {
      NetworkMode: spec.network ? networkName : "none",
      ...(spec.network ? { Dns: [...nameServers] } : {}),
      ...(engineRuntime === null ? {} : { Runtime: engineRuntime }),
      ReadonlyRootfs: true,
      // Without this, a volume that the image declares is a writable folder on the host's disk without a size limit.
      Tmpfs: Object.fromEntries(["/tmp", ...volumes].map((folder) => [folder, scratch])),
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges:true"],
      Privileged: false,
      IpcMode: "none",
      // With cgroups version 1, /proc/self/cgroup would show the host's paths.
      CgroupnsMode: "private",
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(limits.cpus * NANO),
      PidsLimit: limits.pids,
      OomScoreAdj: OOM_SCORE,
      Ulimits: [
        { Name: "nofile", Soft: OPEN_FILES, Hard: OPEN_FILES },
        { Name: "core", Soft: 0, Hard: 0 },
      ],
      // Keeps a job's output off the host's disk.
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "no" },
      ...(spec.gpu ? { DeviceRequests: [gpuRequest(plan.gpuDevice)] } : {}),
    },
  };
}

/**
 * Returns half the memory limit. tmpfs counts as the container's memory, so a full /tmp causes an error and does not
 * kill the container.
 */
function scratchBytes(memoryBytes: number): number {
  return Math.max(MIB, Math.floor(memoryBytes / 2));
}
