import { existsSync, lstatSync, readlinkSync, readdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { MIB } from "../../../shared/format-bytes.ts";
import { CHANNEL_FD } from "../host/host-channel.ts";
import { withMemoryLimit } from "./memory-limit.ts";
import { codePaths, linkTargets, readablePaths, type ReadablePath } from "./readable-paths.ts";
import type { HostCommand, Launch, Sandbox, SandboxNeeds } from "./sandbox.ts";
import { seccompFilter } from "./seccomp-filter.ts";

/** Devices of GPU drivers. Source: nvidia-modprobe, the kernel's drm and kfd, WSL's dxgkrnl. */
const DEVICES = /^(dri|kfd|dxg|nvidia\d+|nvidiactl|nvidia-uvm|nvidia-uvm-tools|nvidia-modeset)$/;
/** Paths that drivers read to find and describe the devices. */
const FILES = [
  "/sys/dev/char",
  "/sys/devices",
  "/sys/class/drm",
  "/sys/class/kfd",
  "/sys/bus/pci",
  "/sys/module/nvidia",
  "/etc/vulkan",
  "/etc/OpenCL",
  "/etc/nvidia",
  "/usr/share/vulkan",
  "/usr/share/glvnd",
  "/usr/share/nvidia",
  "/opt/rocm",
];

/** Library folders; programs are not included. */
const LIBRARIES = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib"];
/**
 * Files of the dynamic loader from /etc, and the number of cores from /sys. Nothing else of these folders is visible.
 */
const SYSTEM_FILES = [
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/alternatives",
  "/sys/devices/system",
];
const TMP_BYTES = 64 * MIB;
const SHARED_MEMORY_BYTES = 16 * MIB;
/** Processes between the agent and the host: bubblewrap and its PID 1. */
const DEPTH = 2;

interface BubblewrapOptions extends SandboxNeeds {
  readonly file: string;
  /** Null for no limit. */
  readonly memoryLimitBytes: number | null;
}

/**
 * Runs a host in separate namespaces, with a file system of only code and model, no network, and a seccomp filter.
 * Requires bubblewrap 0.7. Sources: bwrap(1); measured with 0.8.0: 9 ms and two processes of 2 MB for each host.
 */
export function bubblewrap({ file, memoryLimitBytes, gpu, mayFork, network = false }: BubblewrapOptions): Sandbox {
  const devices = gpu ? gpuDevices() : [];
  const filter = seccompFilter(process.arch, mayFork, network);
  const inputs = filter === null ? [] : [filter];
  return {
    kind: "bubblewrap",
    wrap(command): Launch {
      const args = [
        ...namespaceArgs(network),
        ...systemArgs(),
        ...(devices.length === 0 ? [] : gpuArgs(devices)),
        ...fileArgs(command),
        ...(filter === null ? [] : ["--seccomp", String(CHANNEL_FD + 1)]),
        ...["--chdir", "/", "--remount-ro", "/dev", "--remount-ro", "/", "--"],
        ...[command.file, ...command.args],
      ];
      const environment = { ...command.environment, HOME: "/tmp", TMPDIR: "/tmp" };
      const launch = { file, args, environment, inputs, depth: DEPTH };
      // There is no limit with a GPU, because GPU drivers map more memory than they use.
      return devices.length > 0 ? launch : withMemoryLimit(launch, memoryLimitBytes);
    },
  };
}

function namespaceArgs(network: boolean): string[] {
  const unshared = ["user", "pid", "ipc", "uts", ...(network ? [] : ["net"]), "cgroup-try"].map(
    (name) => `--unshare-${name}`,
  );
  return [...unshared, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "host"];
}

function systemArgs(): string[] {
  const libraries = LIBRARIES.filter((folder) => existsSync(folder)).flatMap((folder) =>
    // With a merged /usr, /lib is a link to usr/lib, and stays one.
    lstatSync(folder).isSymbolicLink() ? ["--symlink", readlinkSync(folder), folder] : ["--ro-bind", folder, folder],
  );
  return [
    ...libraries,
    ...SYSTEM_FILES.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--size", String(TMP_BYTES), "--tmpfs", "/tmp"],
    // In the /dev that bubblewrap creates, /dev/shm could take half of the RAM.
    ...["--size", String(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"],
  ];
}

function gpuArgs(devices: readonly string[]): string[] {
  return [
    ...devices.flatMap((path) => ["--dev-bind-try", path, path]),
    ...gpuFiles().flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

/** Returns the arguments for files. They must follow `--tmpfs /tmp`, which would hide the files below /tmp. */
function fileArgs({ file, environment, readable, writable = [] }: HostCommand): string[] {
  const libraryFolders = (environment["LD_LIBRARY_PATH"] ?? "").split(":").filter((path) => isAbsolute(path));
  const paths = [
    ...codePaths(),
    ...readablePaths([file, ...libraryFolders, ...readable, ...readable.flatMap(linkTargets)]),
  ];
  return [
    ...paths.flatMap(({ path, source }: ReadablePath) => ["--ro-bind", source, path]),
    ...writable.flatMap((path) => ["--bind", path, path]),
  ];
}

function gpuDevices(): string[] {
  return namesIn("/dev")
    .filter((name) => DEVICES.test(name))
    .map((name) => join("/dev", name));
}

function gpuFiles(): string[] {
  const cuda = namesIn("/usr/local").filter((name) => name.startsWith("cuda"));
  return [...FILES, ...cuda.map((name) => join("/usr/local", name))].filter((path) => existsSync(path));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
