import { withMemoryLimit } from "./memory-limit.ts";
import type { Launch, Sandbox } from "./sandbox.ts";

/** unshare, and a shell as PID 1 of the new namespace: that one could not kill itself, and hosts end so. */
const DEPTH = 2;
const NAMESPACES = ["--user", "--net", "--ipc", "--uts", "--pid", "--mount-proc", "--fork", "--kill-child=SIGKILL"];

/** Where bubblewrap is missing: no network and no sight of other processes. The files are those of the agent's user. */
export function unshare({
  file,
  setpriv,
  memoryLimitBytes,
}: {
  /** Path of util-linux' `unshare`. */
  readonly file: string;
  /** Path of util-linux' `setpriv`. */
  readonly setpriv: string;
  /** Null: no limit. */
  readonly memoryLimitBytes: number | null;
}): Sandbox {
  return {
    kind: "unshare",
    wrap(command): Launch {
      const host = [setpriv, "--no-new-privs", "--", command.file, ...command.args];
      const args = [...NAMESPACES, "--", "/bin/sh", "-c", '"$@"; exit $?', "sh", ...host];
      const { environment } = command;
      return withMemoryLimit({ file, args, environment, inputs: [], depth: DEPTH }, memoryLimitBytes);
    },
  };
}
