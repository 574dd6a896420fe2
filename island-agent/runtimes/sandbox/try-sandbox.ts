import { fileURLToPath } from "node:url";
import { hostEntry } from "../host/host-process.ts";
import { startLaunch } from "./start-launch.ts";
import type { Sandbox } from "./sandbox.ts";

const MAX_ATTEMPT_MS = 10_000;
const STDERR_KEPT_CHARS = 500;
/** Attempts if the process was killed or hung, since neither is caused by the sandbox. */
const MAX_ATTEMPTS = 2;

/**
 * Starts a test program in the sandbox, in the same way as hosts. Resolves to null when it works, otherwise to its
 * output. Never throws.
 */
export async function trySandbox(
  sandbox: Sandbox,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  let problem: string | null = null;
  for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
    const ending = await runOnce(sandbox, environment);
    if (ending.code === 0) return null;
    problem = ending.stderr.trim() || `it ended with ${ending.code ?? "a signal"}`;
    if (ending.code !== null) return problem;
  }
  return problem;
}

function runOnce(
  sandbox: Sandbox,
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const entry = fileURLToPath(hostEntry("try-inside", import.meta.url));
    const child = startLaunch(sandbox.wrap({ file: process.execPath, args: [entry], environment, readable: [] }));
    const limit = AbortSignal.timeout(MAX_ATTEMPT_MS);
    const onLimit = (): void => void child.kill("SIGKILL");
    limit.addEventListener("abort", onLimit, { once: true });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-STDERR_KEPT_CHARS);
    });
    const settle = (code: number | null): void => {
      limit.removeEventListener("abort", onLimit);
      child.stdin?.destroy();
      resolve({ code, stderr });
    };
    child.on("error", (error) => {
      stderr = error.message;
      if (child.pid === undefined) settle(1);
    });
    child.on("close", settle);
  });
}
