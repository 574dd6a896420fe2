import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ArtifactLease } from "../../../../../island-agent/artifacts/artifact-store.ts";
import { CargoPool } from "../../../../../island-agent/execution/cargo-pool.ts";
import { Executor } from "../../../../../island-agent/execution/executor.ts";
import { Outbox } from "../../../../../island-agent/session/outbox.ts";
import { systemClock } from "../../../../../shared/clock.ts";
import type { FromIsland } from "../../../../../shared/protocol/from-island.ts";
import { FakeLog, makeAssign, QUIET } from "../../../builders.ts";
import type { TestEngine } from "../../../../support/servers/container-engine.ts";
import { ContainerWorld, makeCargo } from "./container-support.ts";
import { NO_ENGINES } from "../../../no-engines.ts";

/** The number is large enough for several kills of each kind. */
const KILLS = 30;
const MAX_WAIT_MS = 200;
/**
 * The program works in a child of the shell, because a first process ignores all signals of the engine except SIGKILL.
 */
const WORKER = `
read -r job
case "$job" in *greedy*) exec tail -c 200m /dev/zero ;; esac
echo '{"type":"progress","step":0,"total":1}'
sleep 0.3 & wait $! || exit $?
echo '{"type":"done"}'`;

const openFiles = async (): Promise<number> => (await readdir("/proc/self/fd")).length;

/** Containers are killed at random times, under an executor like the agent's. */
export function describeKilled(engine: () => TestEngine): void {
  describe("an agent whose containers are killed", () => {
    let world: ContainerWorld;
    beforeAll(async () => {
      world = await ContainerWorld.open(engine());
      await world.run(makeCargo(WORKER));
    });
    afterAll(() => world.close());

    it(`loses only their jobs, and leaks no lease or file after ${KILLS} kills`, async () => {
      const filesBefore = await openFiles();
      const agent = new Agent(world);
      agent.keepBusy();
      const greedy: string[] = [];
      for (let kills = 0; kills < KILLS;) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_WAIT_MS));
        if (kills % 3 === 2) greedy.push(agent.begin({ greedy: true }));
        else if (!(await killOne(engine(), await world.containerIds(), kills % 3 === 0))) continue;
        kills += 1;
      }
      await agent.rest();
      const last = agent.begin({});
      await agent.rest();
      await agent.pool.close();

      expect(agent.ends.get(last)).toMatchObject({ type: "finished" });
      const failures = [...agent.ends].flatMap(([id, end]) => (end.type === "failed" ? [{ id, ...end }] : []));
      const ofMemory = failures.filter(({ code }) => code === "out_of_memory").map(({ id }) => id);
      const others = failures.filter(({ code }) => code !== "out_of_memory");
      expect(ofMemory.length).toBeGreaterThan(0);
      expect(greedy).toEqual(expect.arrayContaining(ofMemory));
      expect(greedy.map((id) => agent.ends.get(id)?.type)).toEqual(greedy.map(() => "failed"));
      expect(others.length).toBeGreaterThan(0);
      // The engine does not always report memory as the reason.
      expect(others.length).toBeLessThanOrEqual(KILLS - ofMemory.length);
      expect(others.filter(({ retryable }) => !retryable)).toEqual([]);
      expect(agent.leases).toBe(0);
      expect(await world.containers()).toBe(0);
      await expect.poll(openFiles, { timeout: 20_000 }).toBeLessThanOrEqual(filesBefore);
    }, 180_000);
  });
}

/** Kills a container that works, waits or starts. Returns false if no container was killed. */
async function killOne({ docker }: TestEngine, names: readonly string[], byEngine: boolean): Promise<boolean> {
  const container = docker.getContainer(names[Math.floor(Math.random() * names.length)] ?? "none");
  let isSent = false;
  try {
    if (byEngine) {
      await container.kill();
      return true;
    }
    const crash = await container.exec({ Cmd: ["/bin/kill", "-SEGV", "-1"], AttachStdout: true, AttachStderr: true });
    isSent = true;
    const output = await crash.start({});
    for await (const _ of output);
    // Exit code 1 means that there was nothing to kill.
    return (await crash.inspect()).ExitCode !== 1;
  } catch {
    // The container may have ended before the engine replied.
    return isSent;
  }
}

/** An executor with containers. */
class Agent {
  readonly pool: CargoPool;
  /** How jobs ended, by their ids. */
  readonly ends = new Map<string, Extract<FromIsland, { type: "finished" | "failed" }>>();
  leases = 0;
  readonly #executor: Executor;
  #jobs = 0;
  #isBusy = false;
  /** Ids of jobs whose end starts another job. */
  readonly #followed = new Set<string>();

  constructor(world: ContainerWorld) {
    const outbox = new Outbox(systemClock);
    const common = { clock: systemClock, log: new FakeLog() };
    const caps = { ramBytes: 8e9, vramBytes: 0 };
    const files = { acquire: async () => this.#lease() };
    const runtimes = new Map([["container", world.runtime] as const]);
    this.pool = new CargoPool({
      engines: NO_ENGINES,
      ...common,
      runtimes,
      files,
      caps,
      freeRamBytes: () => null,
      onChange: () => undefined,
    });
    this.#executor = new Executor({ ...QUIET, ...common, outbox, pool: this.pool, slots: 4 });
    outbox.connect((frame) => this.#take(frame, outbox), []);
  }

  /** Keeps two jobs running, because the end of each job starts another. */
  keepBusy(): void {
    this.#isBusy = true;
    for (let job = 0; job < 2; job += 1) this.#followed.add(this.begin({}));
  }

  begin(input: Readonly<Record<string, unknown>>): string {
    const jobId = `job_${(this.#jobs += 1)}`;
    this.#executor.assign(makeAssign({ jobId, cargo: makeCargo(WORKER), input }), null);
    return jobId;
  }

  /** Starts no more jobs, and resolves when none runs. */
  async rest(): Promise<void> {
    this.#isBusy = false;
    await this.#executor.idle();
  }

  #take(frame: FromIsland, outbox: Outbox): void {
    if ("seq" in frame) outbox.acknowledge(frame.jobId, frame.attempt, frame.seq);
    if (frame.type !== "finished" && frame.type !== "failed") return;
    this.ends.set(frame.jobId, frame);
    if (!this.#isBusy || !this.#followed.has(frame.jobId)) return;
    setImmediate(() => this.#followed.add(this.begin({})));
  }

  #lease(): ArtifactLease {
    this.leases += 1;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) this.leases -= 1;
      isHeld = false;
    };
    return { path: null, release };
  }
}
