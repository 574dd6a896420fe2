import { codePaths, linkTargets, readablePaths } from "./readable-paths.ts";
import type { HostCommand, Launch, Sandbox, SandboxNeeds } from "./sandbox.ts";

/** Libraries, frameworks and what they read. */
const SYSTEM = [
  "/usr/lib",
  "/usr/share",
  "/System",
  "/Library/Apple",
  "/private/var/db/dyld",
  "/private/var/db/timezone",
  "/dev",
];
/** Metal. Source: github.com/openai/codex/issues/17644. */
const GPU_CLIENTS = ["AGXDeviceUserClient", "IOGPUDeviceUserClient", "IOSurfaceRootUserClient"];

/** macOS: a Seatbelt profile. Written from public profiles; it has not been run. Source: sandbox-exec(1). */
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

/** Only what it names is allowed: reading code and model, threads, and with a GPU its drivers. */
function profileFor({ file, readable }: HostCommand, { gpu, mayFork }: SandboxNeeds): string {
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
    ...(gpu
      ? [`(allow iokit-open ${GPU_CLIENTS.map((name) => `(iokit-user-client-class ${quote(name)})`).join(" ")})`]
      : []),
  ].join("\n");
}

function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
