import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OutputItem } from "../../../../../shared/output.ts";
import type { LoadedContainer } from "../../../../../island-agent/runtimes/container/loaded-container.ts";
import { CargoGone } from "../../../../../island-agent/runtimes/runtime.ts";
import { importTestImage, type TestEngine } from "../../../../support/servers/container-engine.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { ContainerWorld, LONG, makeCargo, NEVER, TALKER } from "./container-support.ts";

/** The time window in which the warm pool counts demand. */
const WINDOW_MS = 60_000;

/** Tests of containers that wait for jobs. The last test stops the engine. */
export function describeWarm(engine: () => TestEngine): void {
  let world: ContainerWorld;
  beforeAll(async () => {
    world = await ContainerWorld.open(engine());
  });
  afterAll(() => world.close());

  describe("a hot container Cargo", () => {
    const run = (loaded: LoadedContainer): Promise<unknown> =>
      loaded.run({ input: {}, resume: null }, () => undefined, NEVER);

    it("runs a job in a container that is already started, and starts another for the next job", async () => {
      await using loaded = await world.load(
        makeCargo(`read -r job; echo "{\\"type\\":\\"done\\",\\"output\\":\\"$HOSTNAME\\"}"`),
      );
      const before = await names(world);
      expect(before).toHaveLength(1);
      await run(loaded);
      expect(loaded.warmContainers).toBe(1);
      await expect.poll(() => names(world)).not.toContain(before[0]);
      await expect.poll(async () => (await names(world)).length).toBe(1);
    });

    it("removes its containers after a window without jobs, and keeps them again after the next job", async () => {
      const clock = new ManualClock();
      const idleWorld = await ContainerWorld.open(engine(), { clock });
      await using loaded = await idleWorld.load(makeCargo(TALKER));
      expect(await idleWorld.containers()).toBe(1);
      clock.advance(WINDOW_MS);
      await expect.poll(() => idleWorld.containers()).toBe(0);
      await run(loaded);
      expect(loaded.warmContainers).toBe(1);
      await loaded[Symbol.asyncDispose]();
      expect(await idleWorld.containers()).toBe(0);
      expect(clock.pendingTimers).toBe(0);
      await idleWorld.close();
    });

    it("starts a program that reads no input for each job", async () => {
      await using loaded = await world.load(makeCargo(`echo '{"type":"token","content":"a"}'; echo '{"type":"done"}'`));
      for (let job = 0; job < 5; job += 1) {
        const items: OutputItem[] = [];
        await loaded.run({ input: {}, resume: null }, (item) => items.push(item), NEVER);
        expect(items).toEqual([{ type: "token", content: "a", count: 1 }]);
      }
    });

    it("replaces a waiting container that is killed", async () => {
      await using loaded = await world.load(makeCargo(TALKER));
      for (let kill = 0; kill < 2; kill += 1) {
        // The container of the last job is still ending. The test waits until only waiting containers run.
        const onlyWaitingRun = async (): Promise<boolean> => {
          const count = (await running(world)).length;
          return count > 0 && count === loaded.warmContainers;
        };
        await expect.poll(onlyWaitingRun, { timeout: 20_000 }).toBe(true);
        const [name] = await running(world);
        await engine()
          .docker.getContainer(name ?? "")
          .kill();
        // Until the agent notices, a job may still get the dead container and fail as retryable.
        await expect.poll(() => names(world), { timeout: 20_000 }).not.toContain(name);
        await expect(run(loaded)).resolves.toMatchObject({ finishReason: "stop" });
      }
    });

    it("fails only the job whose container is killed from outside", async () => {
      await using loaded = await world.load(makeCargo(TALKER));
      const began = Promise.withResolvers<void>();
      const [victim] = await names(world);
      const outcome = expect(
        loaded.run({ input: LONG, resume: null }, () => began.resolve(), NEVER),
      ).rejects.toMatchObject({
        code: "cargo_failed",
        retryable: true,
        message: expect.stringContaining("was killed"),
      });
      await began.promise;
      await engine()
        .docker.getContainer(victim ?? "")
        .kill();
      await outcome;
      await expect(run(loaded)).resolves.toMatchObject({ finishReason: "stop" });
    });

    it("leaves no container or socket behind, at whatever point its jobs are aborted", async () => {
      const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length;
      const loaded = await world.load(makeCargo(TALKER));
      await run(loaded);
      const before = sockets();
      for (let job = 0; job < 24; job += 1) {
        const stop = new AbortController();
        const outcome = loaded.run({ input: LONG, resume: null }, () => stop.abort(new Error("seen")), stop.signal);
        const settled = outcome.then(
          () => "completed",
          (error: Error) => error.message,
        );
        for (let tick = 0; tick < job; tick += 1) await setImmediate();
        if (job % 4 !== 0) stop.abort(new Error("given up"));
        expect(await settled).toMatch(/^(seen|given up)$/);
      }
      expect(sockets()).toBeLessThanOrEqual(before + 2 * loaded.concurrency);
      await loaded[Symbol.asyncDispose]();
      expect(await world.containers()).toBe(0);
      await expect.poll(sockets).toBeLessThan(before);
    });

    it("has a low CPU limit while it waits, and its full limit during its job", async () => {
      const clock = new ManualClock();
      const waitingWorld = await ContainerWorld.open(engine(), { clock });
      const quota = "cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null | cut -d' ' -f1";
      const script = `read -r job; echo "{\\"type\\":\\"done\\",\\"output\\":$(${quota})}"`;
      await using loaded = await waitingWorld.load(makeCargo(script));
      const [name] = await names(waitingWorld);
      clock.advance(10_000);
      const nanoCpus = async (): Promise<number | undefined> =>
        (
          await engine()
            .docker.getContainer(name ?? "")
            .inspect()
        ).HostConfig.NanoCpus;
      await expect.poll(nanoCpus).toBe(50_000_000);
      expect(await run(loaded)).toMatchObject({ output: 100_000 });
      await loaded[Symbol.asyncDispose]();
      await waitingWorld.close();
    });

    it("rejects with CargoGone if its image was removed", async () => {
      const image = "docker.io/atoll/short-lived:1";
      await importTestImage(engine().docker, image, ["LABEL short=lived"]);
      const clock = new ManualClock();
      const idleWorld = await ContainerWorld.open(engine(), { clock });
      await using loaded = await idleWorld.load(makeCargo(TALKER, { image }));
      clock.advance(WINDOW_MS);
      await expect.poll(() => idleWorld.containers()).toBe(0);
      await engine().docker.getImage(image).remove();
      await expect(run(loaded)).rejects.toBeInstanceOf(CargoGone);
      await loaded.gone;
      await idleWorld.close();
    });
  });

  describe.runIf(engine().isOwn)("an engine that stops", () => {
    it("fails running jobs as retryable, and later ones with CargoGone", async () => {
      const loaded = await world.load(makeCargo(TALKER));
      const began = Promise.withResolvers<void>();
      const outcome = expect(
        loaded.run({ input: LONG, resume: null }, () => began.resolve(), NEVER),
      ).rejects.toMatchObject({ name: "JobFailure", retryable: true });
      await began.promise;
      await engine().stop();
      await outcome;
      await expect(loaded.run({ input: {}, resume: null }, () => undefined, NEVER)).rejects.toBeInstanceOf(CargoGone);
      await loaded.gone;
      await loaded[Symbol.asyncDispose]();
      expect(await world.runtime.probe(NEVER)).toMatchObject({ usable: false });
      expect(await world.runtime.sweep(NEVER)).toBe(0);
    });
  });
}

async function names(world: ContainerWorld, all = true): Promise<string[]> {
  const filters = { label: [`org.atoll.island=${world.islandId}`] };
  return (await world.engine.docker.listContainers({ all, filters })).map(({ Id: id }) => id);
}

const running = (world: ContainerWorld): Promise<string[]> => names(world, false);
