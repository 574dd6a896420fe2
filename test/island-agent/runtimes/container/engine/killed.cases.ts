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

/** Enough of each way that every one is seen. */
const KILLS = 30;
const MAX_WAIT_MS = 200;
/** Works in a process beside the shell, since an engine's signals other than SIGKILL do nothing to a first process. */
const WORKER = `
read -r job
case "$job" in *greedy*) exec tail -c 200m /dev/zero ;; esac
echo '{"type":"progress","step":0,"total":1}'
sleep 0.3 & wait $! || exit $?
echo '{"type":"done"}'`;

const openFiles = async (): Promise<number> => (await readdir("/proc/self/fd")).length;

/** The deaths of containers at any moment, under an executor as the agent has it. */
export function describeKilled(engine: () => TestEngine): void {
  describe("an agent whose containers die", () => {
    let world: ContainerWorld;
    beforeAll(async () => {
      world = await ContainerWorld.open(engine());
      await world.run(makeCargo(WORKER));
    });
    afterAll(() => world.close());

    it(`loses only the jobs in them, and keeps nothing of ${KILLS} dead containers`, async () => {
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
      // The engine does not always say that memory was the reason.
      expect(others.length).toBeLessThanOrEqual(KILLS - ofMemory.length);
      expect(others.filter(({ retryable }) => !retryable)).toEqual([]);
      expect(agent.leases).toBe(0);
      expect(await world.containers()).toBe(0);
      await expect.poll(openFiles, { timeout: 20_000 }).toBeLessThanOrEqual(filesBefore);
    }, 180_000);
  });
}

/** Ends a container that works, waits or is on its way; false where it is sure that nothing was killed. */
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
    const said = await crash.start({});
    for await (const _ of said);
    // 1: there was nothing to kill.
    return (await crash.inspect()).ExitCode !== 1;
  } catch {
    // The container may have gone by what was sent, before its end was told.
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
  /** Jobs of which each is followed by another. */
  readonly #followed = new Set<string>();

  constructor(world: ContainerWorld) {
    const outbox = new Outbox();
    const common = { clock: systemClock, log: new FakeLog() };
    const caps = { ramBytes: 8e9, vramBytes: 0 };
    const files = { acquire: async () => this.#lease() };
    const runtimes = new Map([["container", world.runtime] as const]);
    this.pool = new CargoPool({
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

  /** As many jobs as run at once, each followed by another. */
  keepBusy(): void {
    this.#isBusy = true;
    for (let job = 0; job < 2; job += 1) this.#followed.add(this.begin({}));
  }

  begin(input: Readonly<Record<string, unknown>>): string {
    const jobId = `job_${(this.#jobs += 1)}`;
    this.#executor.assign(makeAssign({ jobId, cargo: makeCargo(WORKER), input }), null);
    return jobId;
  }

  /** Resolves when no job runs, and none will. */
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
