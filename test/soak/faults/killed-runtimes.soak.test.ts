import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { ArtifactLease } from "../../../island-agent/artifacts/artifact-store.ts";
import { CargoPool } from "../../../island-agent/execution/cargo-pool.ts";
import { Executor } from "../../../island-agent/execution/executor.ts";
import { diffusersRuntime } from "../../../island-agent/runtimes/diffusers/diffusers-runtime.ts";
import { llmcppRuntime } from "../../../island-agent/runtimes/llmcpp/llmcpp-runtime.ts";
import { onnxRuntime } from "../../../island-agent/runtimes/onnx/onnx-runtime.ts";
import type { CargoRuntime, LoadedCargo } from "../../../island-agent/runtimes/runtime.ts";
import { wasmRuntime } from "../../../island-agent/runtimes/wasm/wasm-runtime.ts";
import { Outbox } from "../../../island-agent/session/outbox.ts";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { systemClock } from "../../../shared/clock.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { FakeLog, makeManifest, QUIET } from "../../island-agent/builders.ts";
import { soakRounds } from "../../support/soak-rounds.ts";
import { makeWasmProgram } from "../../support/models/wasm-program.ts";
import { NO_ENGINES } from "../../island-agent/no-engines.ts";

const KILLS = soakRounds(200);
const TINY_ISLANDER = join(import.meta.dirname, "..", "..", "..", "catalog", "models", "tiny-islander.gguf");
const TINY_EMBEDDER = join(import.meta.dirname, "..", "..", "fixtures", "onnx", "tiny-embedder");
const TINY_PAINTER = join(import.meta.dirname, "..", "..", "fixtures", "diffusers", "tiny-sd");
/** Signals of native crashes, and the signal of the kernel when memory is short. */
const SIGNALS = ["SIGKILL", "SIGSEGV", "SIGABRT", "SIGBUS"] as const;
const PROGRAM = `
  for (let count = 0; count < 20000; count += 1) turns += count;
  say('{"type":"token","content":"a"}');
  for (let count = 0; count < 2000000; count += 1) turns += count;
  say('{"type":"done","output":1}');
`;

/** Runs jobs of one Cargo, one after the other. */
interface Kind {
  readonly cargo: CargoManifest;
  readonly path: string;
  readonly input: Record<string, unknown>;
}

/** Returns the live child processes of this process. */
async function childProcesses(): Promise<number[]> {
  const tasks = await readdir("/proc/self/task");
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/self/task/${task}/children`, "utf8").catch(() => "")),
  );
  return lists.flatMap((list) =>
    list
      .split(" ")
      .filter((pid) => pid !== "")
      .map(Number),
  );
}

const openFiles = async (): Promise<number> => (await readdir("/proc/self/fd")).length;

/** Returns false if the process had already ended. */
function kill(pid: number, signal: NodeJS.Signals | undefined): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Returns the live bytes of the heap after a garbage collection. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

/** Returns numbers from 0 up to, but not including, 1 that depend only on the seed. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe.runIf(process.platform === "linux")("an agent whose runtime processes are killed", () => {
  it(`loses only their jobs, and leaks nothing after ${KILLS} kills`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "atoll-kills-"));
    const module = join(folder, "program.wasm");
    await writeFile(module, await makeWasmProgram(PROGRAM, "let turns: i32 = 0;"));
    const kinds: Kind[] = [
      ...["wasm-a", "wasm-b"].map((slug) => ({
        cargo: makeManifest({ slug, runtimeType: "wasm" as const, requiredRamBytes: 196 * 1_048_576 }),
        path: module,
        input: {},
      })),
      {
        cargo: makeManifest({ slug: "embedder", runtimeType: "onnx", onnxTaskType: "feature-extraction" }),
        path: TINY_EMBEDDER,
        input: { input: Array.from({ length: 200 }, (_, index) => `the cat sleeps ${index}`) },
      },
      {
        cargo: makeManifest({ slug: "painter", runtimeType: "diffusers" }),
        path: TINY_PAINTER,
        input: { prompt: "a red picture", seed: 7, steps: 20 },
      },
      {
        cargo: makeManifest({ slug: "llm", contextTokens: 128 }),
        path: TINY_ISLANDER,
        input: { prompt: "Count from 3 to 9.", max_tokens: 24, temperature: 0 },
      },
    ];
    const before = { files: await openFiles(), children: await childProcesses() };
    const agent = new Agent(kinds);
    agent.startAll();
    const random = makeRandom(7);
    let heapAfterFirst = 0;
    const killed = new Set(before.children);
    for (let kills = 0; kills < KILLS;) {
      await new Promise((resolve) => setTimeout(resolve, random() * 40));
      // Alternates between a loaded and a loading process.
      const wanted = (await childProcesses()).filter(
        (pid) => !killed.has(pid) && agent.loadedPids.has(pid) === (kills % 2 === 0),
      );
      const pid = wanted[Math.floor(random() * wanted.length)];
      if (pid === undefined || !kill(pid, SIGNALS[Math.floor(kills / 2) % SIGNALS.length])) continue;
      killed.add(pid);
      kills += 1;
      if (kills === KILLS / 4) heapAfterFirst = heapBytes();
    }
    agent.stopBeginning();
    await agent.executor.idle();
    for (const kind of kinds) expect(await agent.runOnce(kind), kind.cargo.slug).toMatchObject({ type: "finished" });
    const heapAtEnd = heapBytes();
    await agent.close();

    const { failures, completed } = agent.ends();
    // Each process runs one job at a time, so that a kill may cost at most one job.
    expect(failures.length).toBeLessThanOrEqual(KILLS);
    expect(failures.filter(({ message }) => !/process (crashed|was killed)/.test(message))).toEqual([]);
    const whileLoading = failures.filter(({ message }) => message.endsWith("while loading the model")).length;
    expect(whileLoading, "processes that died while loading").toBeGreaterThan(KILLS / 10);
    expect(failures.length - whileLoading, "jobs that failed while running").toBeGreaterThan(KILLS / 10);
    expect(failures.filter(({ retryable }) => !retryable)).toEqual([]);
    expect(completed).toEqual(new Set(kinds.map(({ cargo }) => cargo.slug)));
    expect(await childProcesses()).toEqual(before.children);
    expect(await openFiles()).toBe(before.files);
    expect(agent.leases).toBe(0);
    expect(heapAtEnd - heapAfterFirst).toBeLessThan(4_000_000);
    await rm(folder, { recursive: true });
  }, 600_000);
});

/** A busy executor with real runtimes. */
class Agent {
  readonly executor: Executor;
  leases = 0;
  /** Processes with a loaded Cargo. */
  readonly loadedPids = new Set<number>();
  readonly #pool: CargoPool;
  readonly #kinds: readonly Kind[];
  readonly #ends: Extract<FromIsland, { type: "finished" | "failed" }>[] = [];
  readonly #slugs = new Map<string, string>();
  readonly #wakers = new Map<string, () => void>();
  #jobs = 0;
  #isBeginning = true;

  constructor(kinds: readonly Kind[]) {
    this.#kinds = kinds;
    const clock = systemClock;
    const all: CargoRuntime[] = [
      onnxRuntime({ threads: 1, clock }),
      diffusersRuntime({ threads: 1, device: "cpu", clock }),
      wasmRuntime({ threads: 1, clock }),
      llmcppRuntime({ threads: 1, gpu: false, sequences: 1, clock }),
    ];
    const runtimes = new Map(all.map((runtime) => [runtime.type, this.#watched(runtime)]));
    const outbox = new Outbox(systemClock);
    const log = new FakeLog();
    const caps = { ramBytes: 8_000_000_000, vramBytes: 0 };
    const files = { acquire: async (cargo: CargoManifest) => this.#lease(cargo) };
    const freeRamBytes = (): null => null;
    this.#pool = new CargoPool({
      runtimes,
      files,
      engines: NO_ENGINES,
      clock,
      log,
      caps,
      freeRamBytes,
      onChange: () => undefined,
    });
    this.executor = new Executor({ ...QUIET, outbox, pool: this.#pool, clock, log, slots: kinds.length });
    outbox.connect((frame) => this.#take(frame, outbox), []);
  }

  startAll(): void {
    for (const kind of this.#kinds) this.#begin(kind);
  }

  stopBeginning(): void {
    this.#isBeginning = false;
  }

  /** Runs one job to its end. */
  async runOnce(kind: Kind): Promise<FromIsland | undefined> {
    const jobId = this.#begin(kind);
    await new Promise<void>((resolve) => this.#wakers.set(jobId, resolve));
    return this.#ends.find((end) => end.jobId === jobId);
  }

  ends() {
    const failures = this.#ends.filter((end) => end.type === "failed");
    const done = this.#ends.filter((end) => end.type === "finished");
    return { failures, completed: new Set(done.map(({ jobId }) => this.#slugs.get(jobId))) };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  /** Wraps a runtime to record its processes. */
  #watched(runtime: CargoRuntime): CargoRuntime {
    return {
      type: runtime.type,
      probe: (signal) => runtime.probe(signal),
      load: async (...order) => {
        const loaded: LoadedCargo & { readonly pid?: number } = await runtime.load(...order);
        const { pid } = loaded;
        if (pid === undefined) return loaded;
        this.loadedPids.add(pid);
        void loaded.gone.then(() => this.loadedPids.delete(pid));
        return loaded;
      },
    };
  }

  #begin({ cargo, input }: Kind): string {
    const jobId = `job_${(this.#jobs += 1)}`;
    this.#slugs.set(jobId, cargo.slug);
    const assign = { type: "assign", jobId, attempt: 1, claim: "", cargo, input, runLimitMs: 60_000 };
    this.executor.assign(assign as Assign, null);
    return jobId;
  }

  #take(frame: FromIsland, outbox: Outbox): void {
    if ("seq" in frame) outbox.acknowledge(frame.jobId, frame.attempt, frame.seq);
    if (frame.type !== "finished" && frame.type !== "failed") return;
    this.#ends.push(frame);
    this.#wakers.get(frame.jobId)?.();
    const kind = this.#kinds.find(({ cargo }) => cargo.slug === this.#slugs.get(frame.jobId));
    if (this.#isBeginning && kind !== undefined) setImmediate(() => this.#begin(kind));
  }

  #lease(cargo: CargoManifest): ArtifactLease {
    this.leases += 1;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) this.leases -= 1;
      isHeld = false;
    };
    return { path: this.#kinds.find((kind) => kind.cargo.slug === cargo.slug)?.path ?? null, release };
  }
}
