import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OutputItem } from "../../../../../shared/output.ts";
import type { LoadedContainer } from "../../../../../island-agent/runtimes/container/loaded-container.ts";
import { CargoGone } from "../../../../../island-agent/runtimes/runtime.ts";
import { importTestImage, type TestEngine } from "../../../../support/servers/container-engine.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { ContainerWorld, LONG, makeCargo, NEVER, TALKER } from "./container-support.ts";

/** The window in which the warm pool counts demand. */
const WINDOW_MS = 60_000;

/** Containers that wait for jobs; at the end the engine itself goes away. */
export function describeWarm(engine: () => TestEngine): void {
  let world: ContainerWorld;
  beforeAll(async () => {
    world = await ContainerWorld.open(engine());
  });
  afterAll(() => world.close());

  describe("a hot container Cargo", () => {
    const run = (loaded: LoadedContainer): Promise<unknown> =>
      loaded.run({ input: {}, resume: null }, () => undefined, NEVER);

    it("answers from a container that was started before, and starts another for the next job", async () => {
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

    it("lets its containers go when no job comes for a while, and warms up again with the next", async () => {
      const clock = new ManualClock();
      const brief = await ContainerWorld.open(engine(), { clock });
      await using loaded = await brief.load(makeCargo(TALKER));
      expect(await brief.containers()).toBe(1);
      clock.advance(WINDOW_MS);
      await expect.poll(() => brief.containers()).toBe(0);
      await run(loaded);
      expect(loaded.warmContainers).toBe(1);
      await loaded[Symbol.asyncDispose]();
      expect(await brief.containers()).toBe(0);
      expect(clock.pendingTimers).toBe(0);
      await brief.close();
    });

    it("runs a program that takes no input, each time anew", async () => {
      await using loaded = await world.load(makeCargo(`echo '{"type":"token","content":"a"}'; echo '{"type":"done"}'`));
      for (let job = 0; job < 5; job += 1) {
        const items: OutputItem[] = [];
        await loaded.run({ input: {}, resume: null }, (item) => items.push(item), NEVER);
        expect(items).toEqual([{ type: "token", content: "a", count: 1 }]);
      }
    });

    it("survives the killing of a container that waits", async () => {
      await using loaded = await world.load(makeCargo(TALKER));
      for (let kill = 0; kill < 2; kill += 1) {
        // The container of the last job ends by itself: wait until only those run that wait for jobs.
        const onlyWaitingRun = async (): Promise<boolean> => {
          const count = (await running(world)).length;
          return count > 0 && count === loaded.warmContainers;
        };
        await expect.poll(onlyWaitingRun, { timeout: 20_000 }).toBe(true);
        const [name] = await running(world);
        await engine()
          .docker.getContainer(name ?? "")
          .kill();
        // Until the agent has heard of it, a job may still get the dead one, and fail as retryable.
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

    it("leaves no container, socket or timer, whenever its jobs are given up", async () => {
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
        for (let turn = 0; turn < job; turn += 1) await setImmediate();
        if (job % 4 !== 0) stop.abort(new Error("given up"));
        expect(await settled).toMatch(/^(seen|given up)$/);
      }
      expect(sockets()).toBeLessThanOrEqual(before + 2 * loaded.concurrency);
      await loaded[Symbol.asyncDispose]();
      expect(await world.containers()).toBe(0);
      await expect.poll(sockets).toBeLessThan(before);
    });

    it("has little of the processor while it waits, and all of its share for its job", async () => {
      const clock = new ManualClock();
      const patient = await ContainerWorld.open(engine(), { clock });
      const quota = "cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null | cut -d' ' -f1";
      const script = `read -r job; echo "{\\"type\\":\\"done\\",\\"output\\":$(${quota})}"`;
      await using loaded = await patient.load(makeCargo(script));
      const [name] = await names(patient);
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
      await patient.close();
    });

    it("is gone when its image is, and says so before a run begins", async () => {
      const image = "docker.io/atoll/short-lived:1";
      await importTestImage(engine().docker, image, ["LABEL short=lived"]);
      const clock = new ManualClock();
      const brief = await ContainerWorld.open(engine(), { clock });
      await using loaded = await brief.load(makeCargo(TALKER, { image }));
      clock.advance(WINDOW_MS);
      await expect.poll(() => brief.containers()).toBe(0);
      await engine().docker.getImage(image).remove();
      await expect(run(loaded)).rejects.toBeInstanceOf(CargoGone);
      await loaded.gone;
      await brief.close();
    });
  });

  describe.runIf(engine().isOwn)("an engine that goes away", () => {
    it("fails what runs as retryable, and the Cargo is gone", async () => {
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
