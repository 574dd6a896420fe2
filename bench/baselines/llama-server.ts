import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { systemClock } from "../../shared/clock.ts";
import { freePort } from "../../test/support/free-port.ts";

const PROGRAM = "llama-server";
const MAX_START_MS = 60_000;

export async function hasLlamaServer(): Promise<boolean> {
  return promisify(execFile)(PROGRAM, ["--version"]).then(
    () => true,
    () => false,
  );
}

/** Starts llama.cpp's server on a free port. */
export async function startLlamaServer(
  modelPath: string,
  { contextSize, sequences, threads }: { contextSize: number; sequences: number; threads: number },
): Promise<{ readonly url: string } & AsyncDisposable> {
  const port = await freePort();
  const size = ["--ctx-size", String(contextSize * sequences), "--parallel", String(sequences)];
  const own = ["--host", "127.0.0.1", "--port", String(port), "--threads", String(threads), "--jinja"];
  const child = spawn(PROGRAM, ["--model", modelPath, ...size, ...own], { stdio: "ignore" });
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  const limit = AbortSignal.timeout(MAX_START_MS);
  const isHealthy = (): Promise<boolean> =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isHealthy())) {
    if (child.exitCode !== null) throw new Error(`${PROGRAM} ended with ${child.exitCode}`);
    limit.throwIfAborted();
    await systemClock.sleep(100);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const late = systemClock.schedule(10_000, () => child.kill("SIGKILL"));
      await ended;
      late.cancel();
    },
  };
}
