import type Docker from "dockerode";
import type { ContainerSpec } from "../../../shared/cargo.ts";
import { NANO } from "./engine.ts";

export interface ContainerLimits {
  /** RAM, with all that is in tmpfs; there is no swap. */
  readonly memoryBytes: number;
  /** Processors' worth of time; may be a fraction. */
  readonly cpus: number;
  /** Processes and threads. */
  readonly pids: number;
}

/** One container to make. */
export interface ContainerPlan {
  readonly name: string;
  /** `sha256:…` */
  readonly imageId: string;
  /** Folders that the image declares as volumes. */
  readonly volumes: readonly string[];
  readonly spec: ContainerSpec;
  readonly limits: ContainerLimits;
  readonly labels: Readonly<Record<string, string>>;
  /** Where `spec.network` is granted. */
  readonly networkName: string;
}

export interface ContainerOptions extends Docker.ContainerCreateOptions {
  readonly name: string;
  /** The client's types lack the namespace of cgroups. */
  readonly HostConfig: Docker.HostConfig & { readonly CgroupnsMode: "private" };
}

/** "nobody" on every Linux: owns nothing. */
const NOBODY = "65534:65534";
const MIB = 1_048_576;
const OPEN_FILES = 1_024;
/**
 * When the host itself runs out of memory, the kernel should choose a Cargo before the owner's programs. A request, no
 * isolation: some kernels let a program lower its own score again.
 */
const OOM_SCORE = 500;

/** What `docker create` would be told: all that isolates a job from its host. Source: DESIGN §7. */
export function containerOptions(plan: ContainerPlan): ContainerOptions {
  const { name, imageId, spec, limits, labels, volumes, networkName } = plan;
  const scratch = `rw,noexec,nosuid,nodev,size=${scratchBytes(limits.memoryBytes)},mode=1777`;
  return {
    name,
    Image: imageId,
    ...(spec.command === null ? {} : { Entrypoint: spec.command, Cmd: [] }),
    // The image's own home may belong to another user, and cannot be written.
    Env: ["HOME=/tmp"],
    User: NOBODY,
    Hostname: "cargo",
    Labels: { ...labels },
    // There is nothing that a program could put in order.
    StopSignal: "SIGKILL",
    // The image's own would run commands in the container beside the job.
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
      ReadonlyRootfs: true,
      // A volume that the image declares would be a folder on the host's disk, writable and without limit.
      Tmpfs: Object.fromEntries(["/tmp", ...volumes].map((folder) => [folder, scratch])),
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges:true"],
      Privileged: false,
      IpcMode: "none",
      // Else /proc/self/cgroup shows the host's paths, where cgroups are of version 1.
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
      // What a job prints is never on the host's disk.
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "no" },
      ...(spec.gpu ? { DeviceRequests: [{ Driver: "", Count: -1, Capabilities: [["gpu"]] }] } : {}),
    },
  };
}

/** Half the memory: what is in tmpfs counts as the container's memory, and a full /tmp is to be an error, not its end. */
function scratchBytes(memoryBytes: number): number {
  return Math.max(MIB, Math.floor(memoryBytes / 2));
}
