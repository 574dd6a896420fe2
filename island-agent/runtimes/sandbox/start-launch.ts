import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { CHANNEL_FD } from "../host/host-channel.ts";
import type { Launch } from "./sandbox.ts";

/** Starts a host process. Its channel is the descriptor `CHANNEL_FD`; the caller reads its error output. */
export function startLaunch({ file, args, environment, inputs, depth, onStarted }: Launch): ChildProcess {
  const child = spawn(file, [...args], {
    env: { ...environment },
    // The agent never writes to stdin; when it closes, the host knows that the agent is gone (parent-watch.ts).
    stdio: ["pipe", "ignore", "pipe", "pipe", ...inputs.map(() => "pipe" as const)],
    // Ctrl-C signals the terminal's whole process group, which would end the sandbox around a host.
    detached: depth > 0,
  });
  child.stdin?.on("error", ignoreBrokenPipe);
  for (const [index, bytes] of inputs.entries()) {
    const input = child.stdio[CHANNEL_FD + 1 + index] as Writable;
    input.on("error", ignoreBrokenPipe);
    input.end(bytes);
  }
  if (child.pid !== undefined) onStarted?.(child.pid);
  return child;
}

/** Ignores a failed write to a process that has just ended; its `exit` reports the end. */
function ignoreBrokenPipe(): void {}
