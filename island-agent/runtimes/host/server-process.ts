import { JobFailure, type JobErrorCode } from "../../../shared/errors.ts";
import { descendantOf, exitInside, type Launch } from "../sandbox/sandbox.ts";
import { startLaunch } from "../sandbox/start-launch.ts";
import { killIfThere } from "./host-process.ts";

const STDERR_KEPT_CHARS = 4_096;

/** A server that the owner's command starts. It ends when killed or after an error, and on Linux with the agent. */
export type ServerProcess = ReturnType<typeof startServer>;

/**
 * Starts a server.
 * @param name in messages, such as "llama-server"
 */
export function startServer(name: string, launch: Launch) {
  const child = startLaunch(launch);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let stderrTail = "";
  /** Reason why the server has ended or was killed; null while it runs. */
  let ending: { readonly why: string; readonly code: JobErrorCode } | null = null;
  const end = (why: string): void => {
    ending ??= { why, code: "runtime_crashed" };
    child.stdin?.destroy();
    resolve();
  };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderrTail = (stderrTail + text).slice(-STDERR_KEPT_CHARS);
  });
  child.once("error", (error) => end(`it could not be started: ${error.message}`));
  child.once("exit", (code, signal) => {
    const exit = launch.depth === 0 ? { code, signal } : exitInside({ code, signal }, stderrTail);
    end(exit.signal === null ? `it ended with code ${exit.code ?? "1 of its sandbox"}` : `it got ${exit.signal}`);
  });

  return {
    /** Resolves when the process has ended. */
    ended,
    get isRunning(): boolean {
      return ending === null;
    },
    /** Process id of the server; undefined if it could not be started, and in a sandbox until it has started. */
    get pid(): number | undefined {
      return child.pid === undefined ? undefined : descendantOf(child.pid, launch.depth);
    },
    /** End of the server's error output, for the owner only: it may quote prompts. */
    get stderrTail(): string {
      return stderrTail;
    },
    /** @param code error code for its runs */
    kill(why: string, code: JobErrorCode = "runtime_crashed"): void {
      ending ??= { why, code };
      const inside = child.pid === undefined ? undefined : descendantOf(child.pid, launch.depth);
      if (inside === undefined || inside === child.pid) child.kill("SIGKILL");
      else killIfThere(inside);
    },
    /** Returns the failure for a run or load at its end. */
    failure(): JobFailure {
      const { why = "it ended", code = "runtime_crashed" } = ending ?? {};
      return new JobFailure(code, `${name} does not run any more: ${why}`, { retryable: true });
    },
  };
}
