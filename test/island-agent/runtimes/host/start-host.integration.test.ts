import { readFileSync } from "node:fs";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CHANNEL_FD } from "../../../../island-agent/runtimes/host/host-channel.ts";
import { hostEnvironment } from "../../../../island-agent/runtimes/host/host-environment.ts";
import type { HostProgram } from "../../../../island-agent/runtimes/host/host-process.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../../island-agent/runtimes/host/load-limit.ts";
import { type HostContext, loadInHost } from "../../../../island-agent/runtimes/host/start-host.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { Admission } from "../../../../island-agent/runtimes/runtime.ts";
import { NEVER } from "../../builders.ts";

/** Reads all requests and never replies, like a stopped process. */
const SILENT = `import { Socket } from "node:net";
new Socket({ fd: ${CHANNEL_FD} }).resume();`;
const REPLIES = `import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { existsSync, writeFileSync } from "node:fs";
const file = new URL("./pid", import.meta.url);
if (!existsSync(file)) writeFileSync(file, String(process.pid));
const pipe = new Socket({ fd: ${CHANNEL_FD} });
createInterface(pipe).on("line", (line) => {
  const memory = { ramBytes: 1, vramBytes: 0 };
  const { kind } = JSON.parse(line);
  const reply = kind === "load" ? { kind: "loaded", memory, facts: {} } : { kind: "estimated", memory };
  pipe.write(JSON.stringify(reply) + "\\n");
});`;
const BYTES = 50_000_000;
const takeAll: Admission = async (estimate) => (await estimate()).ramBytes * 1e9;

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

/** Processes of a load. The process that estimates writes its id to a file. */
async function pidsOfLoad(admit: Admission): Promise<{ estimated: number; loaded: number | undefined }> {
  const program = await makeProgram(REPLIES);
  const { host } = await loadInHost(program, context, { slug: "a", modelPath: folder, request: null, admit }, NEVER);
  host.kill("the test is done");
  await host.ended;
  return { estimated: startedPid(), loaded: host.pid };
}

/** Id of the first process that {@link REPLIES} ran in. */
const startedPid = (): number => Number(readFileSync(join(folder, "pid"), "utf8"));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("loadInHost() with a host that hangs", () => {
  it("kills the host when its estimate takes longer than 30 s, and fails as retryable", async () => {
    const spec = { slug: "a", modelPath: folder, request: null, admit: takeAll };
    const estimating = loadInHost(await makeProgram(SILENT), context, spec, NEVER);
    await expect.poll(() => clock.pendingTimers).toBe(1);
    clock.advance(30_000);
    await expect(estimating).rejects.toMatchObject({
      code: "runtime_unavailable",
      retryable: true,
      message: "The Fake process was killed: it did not estimate the model's memory within 30 s",
    });
  });

  it.each([
    ["a file", (path: string) => join(path, "model")],
    ["a folder", (path: string) => path],
  ])(
    "kills the host when the load takes longer than 120 s plus the time to read %s at 20 MB/s",
    async (_what, pathIn) => {
      const program = await makeProgram(SILENT);
      const spec = { slug: "a", modelPath: pathIn(folder), request: null };
      let hasEnded = false;
      const loading = loadInHost(program, context, spec, NEVER).finally(() => (hasEnded = true));
      loading.catch(() => undefined);
      // Timers of the limit and of the memory watch.
      await expect.poll(() => clock.pendingTimers).toBe(2);
      clock.advance(122_000);
      await new Promise((resolve) => setImmediate(resolve));
      expect(hasEnded).toBe(false);
      clock.advance(1_000);
      await expect(loading).rejects.toMatchObject({
        code: "runtime_unavailable",
        retryable: true,
        message: "The Fake process was killed: it did not load the model within 123 s",
      });
    },
  );

  it("does not kill the host once it has replied", async () => {
    const spec = { slug: "a", modelPath: folder, request: null, admit: takeAll };
    const { host } = await loadInHost(await makeProgram(REPLIES), context, spec, NEVER);
    expect(clock.pendingTimers).toBe(0);
    host.kill("the test is done");
    await host.ended;
  });
});

describe("loadInHost() with a host that has estimated", () => {
  it("loads the model in the same process", async () => {
    const pids = await pidsOfLoad(takeAll);
    expect(pids.loaded).toBe(pids.estimated);
  });

  it("ends the process while the load waits for memory, and loads in a new one", async () => {
    const pids = await pidsOfLoad(async (estimate) => {
      await estimate();
      clock.advance(2_000);
      await expect.poll(() => isAlive(startedPid())).toBe(false);
      return Infinity;
    });
    expect(pids.loaded).not.toBe(pids.estimated);
  });

  it("starts a new process if the first ends before the load", async () => {
    const pids = await pidsOfLoad(async (estimate) => {
      await estimate();
      process.kill(startedPid());
      await expect.poll(() => isAlive(startedPid())).toBe(false);
      await expect.poll(() => clock.pendingTimers).toBe(0);
      return Infinity;
    });
    expect(pids.loaded).not.toBe(pids.estimated);
  });

  it("ends the process when the load is refused", async () => {
    const program = await makeProgram(REPLIES);
    const admit: Admission = async (estimate) => {
      await estimate();
      throw new Error("out of memory");
    };
    const spec = { slug: "a", modelPath: folder, request: null, admit };
    await expect(loadInHost(program, context, spec, NEVER)).rejects.toThrow("out of memory");
    expect(isAlive(startedPid())).toBe(false);
  });
});
