import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CHANNEL_FD } from "../../../../island-agent/runtimes/host/host-channel.ts";
import { hostEnvironment } from "../../../../island-agent/runtimes/host/host-environment.ts";
import type { HostProgram } from "../../../../island-agent/runtimes/host/host-process.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../../island-agent/runtimes/host/load-limit.ts";
import { estimateInHost, type HostContext, loadInHost } from "../../../../island-agent/runtimes/host/start-host.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { NEVER } from "../../builders.ts";

/** Reads every request and answers none, like a stopped process. */
const SILENT = `import { Socket } from "node:net";
new Socket({ fd: ${CHANNEL_FD} }).resume();`;
const ANSWERS = `import { Socket } from "node:net";
import { createInterface } from "node:readline";
const pipe = new Socket({ fd: ${CHANNEL_FD} });
createInterface(pipe).on("line", (line) => {
  const memory = { ramBytes: 1, vramBytes: 0 };
  const { kind } = JSON.parse(line);
  const answer = kind === "load" ? { kind: "loaded", memory, facts: {} } : { kind: "estimated", memory };
  pipe.write(JSON.stringify(answer) + "\\n");
});`;
const BYTES = 50_000_000;

let folder: string;
let clock: ManualClock;
let context: HostContext;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "atoll-host-"));
  clock = new ManualClock();
  context = { clock, limits: DEFAULT_LOAD_LIMITS, log: { info: () => {} } };
  await writeFile(join(folder, "model"), "");
  await truncate(join(folder, "model"), BYTES);
});
afterEach(async () => {
  await rm(folder, { recursive: true });
  expect(clock.pendingTimers, "timers left").toBe(0);
});

async function makeProgram(source: string): Promise<HostProgram> {
  const file = join(folder, "host.mjs");
  await writeFile(file, source);
  return { name: "Fake", entry: pathToFileURL(file), environment: hostEnvironment({}, {}) };
}

describe("a host process that hangs", () => {
  it("is killed when its estimate takes longer than 30 s, and the job may run elsewhere", async () => {
    const estimating = estimateInHost(await makeProgram(SILENT), context, null, NEVER);
    clock.advance(30_000);
    await expect(estimating).rejects.toMatchObject({
      code: "runtime_unavailable",
      retryable: true,
      message: "Fake process was killed: it did not estimate the model's memory within 30 s",
    });
  });

  it.each([
    ["a file", (path: string) => join(path, "model")],
    ["a folder", (path: string) => path],
  ])(
    "is killed when the load takes longer than 120 s and what the bytes of %s take at 20 MB/s",
    async (_what, pathIn) => {
      const program = await makeProgram(SILENT);
      const spec = { slug: "a", modelPath: pathIn(folder), request: null };
      let hasEnded = false;
      const loading = loadInHost(program, context, spec, NEVER).finally(() => (hasEnded = true));
      loading.catch(() => undefined);
      // The limit, and beside it the watch on its memory.
      await expect.poll(() => clock.pendingTimers).toBe(2);
      clock.advance(122_000);
      await new Promise((resolve) => setImmediate(resolve));
      expect(hasEnded).toBe(false);
      clock.advance(1_000);
      await expect(loading).rejects.toMatchObject({
        code: "runtime_unavailable",
        retryable: true,
        message: "Fake process was killed: it did not load the model within 123 s",
      });
    },
  );

  it("is not killed once it has answered", async () => {
    const program = await makeProgram(ANSWERS);
    await estimateInHost(program, context, null, NEVER);
    const { host } = await loadInHost(program, context, { slug: "a", modelPath: folder, request: null }, NEVER);
    expect(clock.pendingTimers).toBe(0);
    host.kill("the test is done");
    await host.ended;
  });
});
