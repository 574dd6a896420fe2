import { withMemoryLimit } from "./memory-limit.ts";
import type { Launch, Sandbox } from "./sandbox.ts";

/**
 * Processes between the agent and the host: unshare, and a shell as PID 1 of the namespace. PID 1 cannot kill itself,
 * and hosts end that way.
 */
const DEPTH = 2;
const NAMESPACES = ["--user", "--ipc", "--uts", "--pid", "--mount-proc", "--fork", "--kill-child=SIGKILL"];

/**
 * Fallback without bubblewrap, which hides the network and other processes. Files stay accessible with the user's
 * rights.
 */
export function unshare({
  file,
  setpriv,
  memoryLimitBytes,
  network = false,
}: {
  readonly file: string;
  readonly setpriv: string;
  /** Null for no limit. */
  readonly memoryLimitBytes: number | null;
  readonly network?: boolean;
}): Sandbox {
  return {
    kind: "unshare",
    wrap(command): Launch {
      const host = [setpriv, "--no-new-privs", "--", command.file, ...command.args];
      const args = [
        ...NAMESPACES,
        ...(network ? [] : ["--net"]),
        "--",
        "/bin/sh",
        "-c",
        '"$@"; exit $?',
        "sh",
        ...host,
      ];
      const { environment } = command;
      return withMemoryLimit({ file, args, environment, inputs: [], depth: DEPTH }, memoryLimitBytes);
    },
  };
}
