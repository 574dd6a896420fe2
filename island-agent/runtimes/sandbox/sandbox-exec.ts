import { codePaths, linkTargets, readablePaths } from "./readable-paths.ts";
import type { HostCommand, Launch, Sandbox, SandboxNeeds } from "./sandbox.ts";

/** Folders of libraries and frameworks, and files that these read. */
const SYSTEM = [
  "/usr/lib",
  "/usr/share",
  "/System",
  "/Library/Apple",
  "/private/var/db/dyld",
  "/private/var/db/timezone",
  "/dev",
];
/** Classes of Metal. Source: github.com/openai/codex/issues/17644. */
const GPU_CLIENTS = ["AGXDeviceUserClient", "IOGPUDeviceUserClient", "IOSurfaceRootUserClient"];

/** macOS Seatbelt profile, written from public profiles. It has not been tested. Source: sandbox-exec(1). */
export function sandboxExec(needs: SandboxNeeds): Sandbox {
  return {
    kind: "sandbox-exec",
    wrap(command): Launch {
      const { file, args, environment } = command;
      const inside = ["-p", profileFor(command, needs), file, ...args];
      return { file: "/usr/bin/sandbox-exec", args: inside, environment, inputs: [], depth: 0 };
    },
  };
}

/** Returns a profile that allows only what it lists: reading code and model, threads, and GPU drivers if needed. */
function profileFor(
  { file, readable, writable = [] }: HostCommand,
  { gpu, mayFork, network = false }: SandboxNeeds,
): string {
  const files = readablePaths([file, ...readable, ...readable.flatMap(linkTargets)]);
  const folders = [...codePaths(), ...files].flatMap(({ path, source }) => [path, source]);
  const subpaths = [...new Set([...SYSTEM, ...folders])].map((path) => `(subpath ${quote(path)})`);
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec)",
    ...(mayFork ? ["(allow process-fork)"] : []),
    "(allow signal (target self))",
    "(allow sysctl-read)",
    "(allow mach-lookup)",
    "(allow ipc-posix-shm)",
    "(allow file-read-metadata)",
    `(allow file-read* ${subpaths.join(" ")})`,
    '(allow file-write-data (literal "/dev/null"))',
    ...(writable.length === 0
      ? []
      : [
          `(allow file-read* file-write* network-bind ${writable.map((path) => `(subpath ${quote(path)})`).join(" ")})`,
        ]),
    ...(network ? ["(allow network*)"] : []),
    ...(gpu
      ? [`(allow iokit-open ${GPU_CLIENTS.map((name) => `(iokit-user-client-class ${quote(name)})`).join(" ")})`]
      : []),
  ].join("\n");
}

function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
