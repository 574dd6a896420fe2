import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CargoPool } from "../../../../island-agent/execution/cargo-pool.ts";
import { Executor } from "../../../../island-agent/execution/executor.ts";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { CargoGone } from "../../../../island-agent/runtimes/runtime.ts";
import { Outbox } from "../../../../island-agent/session/outbox.ts";
import { systemClock } from "../../../../shared/clock.ts";
import type { FromIsland } from "../../../../shared/protocol/from-island.ts";
import { FakeLog, makeAssign, QUIET } from "../../builders.ts";
import { makeSlowOnnx } from "../../../support/models/tiny-onnx.ts";
import { isRunning } from "../llmcpp/llmcpp-support.ts";
import { collectTensors, loadTiny, makeCargo, makeRuntime, NEVER, TemporaryFolder } from "./onnx-support.ts";
import { NO_ENGINES } from "../../no-engines.ts";
import { killIfAlive } from "../../../support/kill-if-alive.ts";

const folder = new TemporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const SLOW_MODEL = path.join(folder.path, "slow");
writeFileSync(SLOW_MODEL, makeSlowOnnx(200));

const sized = (n: number) => ({ size: { type: "int64", dims: [2], data: [n, n] } });
const QUICK = sized(2);
/** One call into ONNX Runtime that takes more than 30 s. */
const SLOW = sized(2_000);

const loadSlow = (killAfterMs: number): Promise<HostedCargo> =>
  makeRuntime({ killAfterMs }).load(makeCargo(null), SLOW_MODEL, NEVER);

function pidOf(cargo: HostedCargo): number {
  if (cargo.pid === undefined) throw new Error("the host has no process");
  return cargo.pid;
}

describe("a crashed host process", () => {
  const loadEmbedder = () => loadTiny("feature-extraction", "tiny-embedder", { weights: "q8" });
  const manyTexts = { input: { input: Array.from({ length: 2_048 }, () => "the cat sleeps") }, resume: null };

  it("fails only its own run, as retryable, and another model and the next load still work", async () => {
    await using other = await loadSlow(50);
    const doomed = await loadEmbedder();
    const running = doomed.run(manyTexts, () => killIfAlive(pidOf(doomed), "SIGKILL"), NEVER);
    await expect(running).rejects.toMatchObject({
      code: "runtime_crashed",
      retryable: true,
      message: expect.stringContaining("(SIGKILL), probably because memory ran out"),
    });
    await doomed.gone;
    await expect(collectTensors(other, QUICK)).resolves.toBeDefined();
    await using next = await loadEmbedder();
    await expect(next.run({ input: { input: "hello" }, resume: null }, () => {}, NEVER)).resolves.toBeDefined();
  });

  it("is reported with the signal that ended it", async () => {
    const doomed = await loadEmbedder();
    const running = doomed.run(manyTexts, () => killIfAlive(pidOf(doomed), "SIGSEGV"), NEVER);
    await expect(running).rejects.toMatchObject({
      code: "runtime_crashed",
      message: "The ONNX Runtime process crashed (SIGSEGV)",
    });
  });
});

describe("an aborted run", () => {
  it("is killed while ONNX Runtime computes, and a waiting run rejects with CargoGone", async () => {
    await using cargo = await loadSlow(50);
    await collectTensors(cargo, QUICK);
    const controller = new AbortController();
    const running = cargo.run({ input: { inputs: SLOW }, resume: null }, () => {}, controller.signal);
    const waiting = collectTensors(cargo, QUICK);
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expect(waiting).rejects.toBeInstanceOf(CargoGone);
    await cargo.gone;
    expect(isRunning(pidOf(cargo))).toBe(false);
  });

  it("does not fail the job that waits behind it, because the Cargo is loaded again", async () => {
    const outbox = new Outbox(systemClock);
    const sent: FromIsland[] = [];
    outbox.connect((frame) => sent.push(frame), []);
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const pool = new CargoPool({
      engines: NO_ENGINES,
      runtimes: new Map([["onnx" as const, makeRuntime({ killAfterMs: 50 })]]),
      files: { acquire: () => Promise.resolve({ path: SLOW_MODEL, release: () => {} }) },
      clock: systemClock,
      log: new FakeLog(),
      caps: { ramBytes: Infinity, vramBytes: 0 },
      freeRamBytes: () => null,
      onChange: () => resolve(),
    });
    const executor = new Executor({ ...QUIET, outbox, pool, clock: systemClock, log: new FakeLog(), slots: 2 });
    const cargo = makeCargo(null);
    executor.assign(makeAssign({ jobId: "job_slow", cargo, input: { inputs: SLOW } }), null);
    executor.assign(makeAssign({ jobId: "job_quick", cargo, input: { inputs: QUICK } }), null);
    await begun;
    executor.cancel({ type: "cancel", jobId: "job_slow", attempt: 1, reason: "cancelled" });
    await executor.idle();
    await pool.close();
    const endOf = (jobId: string): unknown => sent.findLast((frame) => "jobId" in frame && frame.jobId === jobId);
    expect(endOf("job_slow")).toMatchObject({ type: "cancelled" });
    expect(endOf("job_quick")).toMatchObject({ type: "finished", output: { outputs: { shape: { data: [2, 2] } } } });
  });
});

describe("dispose()", () => {
  it("kills the process while it computes", async () => {
    const cargo = await loadSlow(50);
    const running = cargo.run({ input: { inputs: SLOW }, resume: null }, () => {}, NEVER);
    running.catch(() => {});
    await cargo[Symbol.asyncDispose]();
    await expect(running).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
    expect(isRunning(pidOf(cargo))).toBe(false);
  });
});

describe.skipIf(process.platform !== "linux")("a host process in /proc (Linux)", () => {
  /** Runs a job that needs a session of the model and one of transformers.js' own, which sorts. */
  async function loadAndRun(threads: number): Promise<HostedCargo> {
    const cargo = await loadTiny("text-classification", "tiny-sentiment", {}, { threads });
    await cargo.run({ input: { text: "I love this" }, resume: null }, () => {}, NEVER);
    return cargo;
  }
  const threadsOf = (cargo: HostedCargo): number => readdirSync(`/proc/${pidOf(cargo)}/task`).length;

  it("has the configured number of threads in each session", async () => {
    await using one = await loadAndRun(1);
    await using three = await loadAndRun(3);
    // The main thread also computes, so 3 threads are 2 more threads in each of the two sessions.
    expect(threadsOf(three) - threadsOf(one)).toBe(4);
  });

  it("has no network socket", async () => {
    await using cargo = await loadAndRun(1);
    const proc = `/proc/${pidOf(cargo)}`;
    const open = readdirSync(`${proc}/fd`).map((fd) => targetOf(`${proc}/fd/${fd}`));
    const sockets = open.flatMap((name) => /^socket:\[(\d+)\]$/.exec(name)?.[1] ?? []);
    const tables = ["tcp", "tcp6", "udp", "udp6"].map((name) => readFileSync(`${proc}/net/${name}`, "utf8"));
    const inodes = new Set(tables.flatMap((table) => table.split("\n").map((line) => line.trim().split(/\s+/)[9])));
    expect(sockets.length, "the IPC socket").toBeGreaterThan(0);
    expect(sockets.filter((inode) => inodes.has(inode))).toEqual([]);
  });
});

/** Returns what a file descriptor of another process refers to; "" if the process has just closed it. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor);
  } catch {
    return "";
  }
}
