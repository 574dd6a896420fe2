import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OutputItem } from "../../../../../shared/output.ts";
import type { LoadedContainer } from "../../../../../island-agent/runtimes/container/loaded-container.ts";
import { CargoGone } from "../../../../../island-agent/runtimes/runtime.ts";
import { describeRuntime } from "../../runtime.contract.ts";
import { importTestImage, TEST_IMAGE, type TestEngine } from "../../../../support/container-engine.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { ContainerWorld, makeCargo, MIB, NEVER } from "./container-support.ts";

/** Says three words, or for ever when asked to. */
const TALKER = `
read -r job
case "$job" in
  *forever*) while :; do echo '{"type":"token","content":"on "}'; sleep 0.02; done ;;
esac
for word in one two three; do echo "{\\"type\\":\\"token\\",\\"content\\":\\"$word \\"}"; done
echo '{"type":"done"}'`;
/** In which demand counts. */
const WINDOW_MS = 60_000;
const LONG = { forever: true };

export function describeContainers(engine: () => TestEngine): void {
  let world: ContainerWorld;
  beforeAll(async () => {
    world = await ContainerWorld.open(engine());
  });
  afterAll(() => world.close());

  describeRuntime("container", async () => ({
    load: () => world.load(makeCargo(TALKER)),
    short: { input: { prompt: "hello" }, resume: null },
    long: { input: LONG, resume: null },
    invalid: { input: { prompt: 1n }, resume: null },
  }));

  describe("ContainerRuntime", () => {
    it("gives the input as one line of JSON with an end, and every kind of output", async () => {
      const script = `
        job=$(cat)
        echo '{"type":"progress","step":1,"total":2}'
        echo '{"type":"image","format":"png","data":"iVBORw=="}'
        echo "{\\"type\\":\\"done\\",\\"output\\":$job}"`;
      const input = { text: "Zeile 1\nZeile 2 🏝", list: [1, null, { deep: true }] };
      expect(await world.run(makeCargo(script), input)).toEqual({
        finishReason: "stop",
        usage: { promptTokens: 0, completionTokens: 0 },
        output: input,
        items: [
          { type: "progress", step: 1, total: 2 },
          { type: "image", format: "png", data: "iVBORw==" },
        ],
      });
    });

    it("gives lines as they are written, and none after it was given up", async () => {
      const controller = new AbortController();
      const items: OutputItem[] = [];
      const run = world.run(makeCargo(TALKER), LONG, controller.signal, (item) => {
        items.push(item);
        if (items.length === 3) controller.abort(new Error("enough"));
      });
      await expect(run).rejects.toThrow("enough");
      expect(items).toHaveLength(3);
    });

    it("gives nothing more of what came in one piece with the line at which it was given up", async () => {
      const controller = new AbortController();
      const items: OutputItem[] = [];
      const lines = `read -r job; printf '{"type":"progress","step":%d,"total":3}\\n' 1 2 3; sleep 1000`;
      const run = world.run(makeCargo(lines), {}, controller.signal, (item) => {
        items.push(item);
        controller.abort(new Error("enough"));
      });
      await expect(run).rejects.toThrow("enough");
      expect(items).toHaveLength(1);
    });

    it("counts each token line as a token", async () => {
      expect(await world.run(makeCargo(TALKER))).toMatchObject({ usage: { promptTokens: 0, completionTokens: 3 } });
    });

    it("takes the program's own word for a failure", async () => {
      const script = `read -r job; echo '{"type":"error","message":"there is no page 7"}'`;
      await expect(world.run(makeCargo(script))).rejects.toMatchObject({
        code: "cargo_failed",
        message: "there is no page 7",
        retryable: false,
      });
    });

    it.each([
      ["exit 0", false, "The Cargo's program ended without a `done` line"],
      ["echo why >&2; exit 1", false, "ended with exit code 1; its standard error ends with:\nwhy"],
      ["exit 126", false, "exit code 126 (a command in it is not executable)"],
      ["nonsense", false, "exit code 127 (a command in it was not found); its standard error ends with:\n/bin/sh: "],
      ["kill -KILL $$; exit 137", true, "was killed (SIGKILL, exit code 137)"],
      ["exec sh -c 'kill -SEGV $$; exit 139'", true, "crashed: invalid memory access (SIGSEGV, exit code 139)"],
      ["exit 143", true, "was terminated (SIGTERM, exit code 143)"],
      ["echo not json", false, "broke the output protocol: line 1 of its output is not JSON"],
    ])("says in words how a program ended: %s", async (work, retryable, message) => {
      await expect(world.shell(work)).rejects.toMatchObject({
        code: "cargo_failed",
        retryable,
        message: expect.stringContaining(message),
      });
    });

    it("says how a program ended that had not read its input", async () => {
      const input = { text: "x".repeat(2_000_000) };
      await expect(world.run(makeCargo("sleep 0.1; exit 3"), input)).rejects.toMatchObject({
        code: "cargo_failed",
        message: expect.stringContaining("exit code 3"),
      });
    });

    it("waits for the exit code of a program that closed its output before", async () => {
      await expect(world.shell("exec >&- 2>&-; sleep 0.2; exit 5")).rejects.toMatchObject({
        message: expect.stringContaining("exit code 5"),
      });
    });

    it("does not wait for the exit of a program that is done", async () => {
      expect(await world.run(makeCargo(`read -r job; echo '{"type":"done","output":1}'; sleep 1000`))).toMatchObject({
        output: 1,
      });
    });

    it.each([
      [["/bin/nothing"], "model_invalid", false],
      [["/etc/passwd"], "model_invalid", false],
    ])("refuses to load an image that cannot run %j", async (command, code, retryable) => {
      await expect(world.load(makeCargo("", { command }))).rejects.toMatchObject({
        name: "JobFailure",
        code,
        retryable,
      });
      await world.unload();
      expect(await world.containers()).toBe(0);
    });

    it.each([
      ["VOLUME /", 'declares the volume "/"'],
      ["VOLUME /proc", 'declares the volume "/proc"'],
      ["VOLUME /data/../dev/", 'declares the volume "/data/../dev/"'],
      ["VOLUME /sys/fs", 'declares the volume "/sys/fs"'],
      ["VOLUME relative", 'declares the volume "relative"'],
      ["VOLUME /bin/busybox", "has a file where it declares a folder"],
      ["WORKDIR /etc/passwd", "has a file where it declares a folder"],
    ])("refuses for good an image that nobody could start: %s", async (change, message) => {
      const image = "docker.io/atoll/odd:1";
      await importTestImage(engine().docker, image, [change]);
      await expect(world.load(makeCargo(TALKER, { image }))).rejects.toMatchObject({
        name: "JobFailure",
        code: "model_invalid",
        retryable: false,
        message: expect.stringContaining(message),
      });
      await engine().docker.getImage(image).remove();
    });

    it("takes a volume for one however it is written", async () => {
      const image = "docker.io/atoll/odd:1";
      await importTestImage(engine().docker, image, ['VOLUME ["/tmp/", "/data/x/..", "/data", "/dev/shm"]']);
      expect(await world.run(makeCargo(TALKER, { image }))).toMatchObject({ finishReason: "stop" });
      await engine().docker.getImage(image).remove();
    });

    it("refuses a GPU that the owner does not lend, or that the engine cannot give", async () => {
      const cargo = makeCargo(TALKER, { gpu: true });
      const refusal = { code: "runtime_unavailable", retryable: true };
      await expect(world.load(cargo)).rejects.toMatchObject({
        ...refusal,
        message: expect.stringContaining("shares none"),
      });
      const generous = await ContainerWorld.open(engine(), { hasGpu: true });
      await expect(generous.load(cargo)).rejects.toMatchObject({
        ...refusal,
        message: expect.stringContaining("cannot grant a GPU"),
      });
      await generous.close();
    });

    it("gives up a load that is not wanted any more, and leaves nothing of it", async () => {
      await world.unload();
      const stop = new AbortController();
      const loading = world.runtime.load(makeCargo(TALKER), null, stop.signal);
      await expect.poll(() => world.containers()).toBe(1);
      stop.abort(new Error("not wanted"));
      // The load may have been through by then.
      const outcome = await loading.then(
        async (loaded) => loaded[Symbol.asyncDispose](),
        (error: Error) => error.message,
      );
      expect(["not wanted", undefined]).toContain(outcome);
      await expect.poll(() => world.containers()).toBe(0);
    });

    it("refuses to go on after the text of another attempt", async () => {
      await using loaded = await world.load(makeCargo(TALKER));
      const resume = { text: "one ", tokens: 1 };
      await expect(loaded.run({ input: {}, resume }, () => undefined, NEVER)).rejects.toMatchObject({
        code: "cannot_resume",
      });
    });

    it("runs as many jobs at once as their memory fits, the others after them", async () => {
      const small = await ContainerWorld.open(engine(), { concurrency: 3, ramBytes: 100 * MIB });
      expect(await small.runtime.estimate(makeCargo(""))).toEqual({ ramBytes: 96 * MIB, vramBytes: 0 });
      await using loaded = await small.load(makeCargo(TALKER));
      expect(loaded).toMatchObject({ concurrency: 2, memory: { ramBytes: 96 * MIB } });
      const stop = new AbortController();
      const begun: number[] = [];
      const endless = [1, 2].map((run) =>
        loaded.run({ input: LONG, resume: null }, () => void begun.push(run), stop.signal).catch(() => undefined),
      );
      await untilBothBegan(begun, loaded);
      const third = loaded.run({ input: {}, resume: null }, () => void begun.push(3), NEVER);
      stop.abort(new Error("make room"));
      await third;
      await Promise.all(endless);
      expect(begun.indexOf(3)).toBeGreaterThan(Math.max(begun.indexOf(1), begun.indexOf(2)));
      await small.close();
    });

    it("tells those who wait for their turn that the Cargo is gone, and nothing of them was begun", async () => {
      const small = await ContainerWorld.open(engine(), { concurrency: 1 });
      await using loaded = await small.load(makeCargo(TALKER));
      const began = Promise.withResolvers<void>();
      const first = loaded.run({ input: LONG, resume: null }, () => began.resolve(), NEVER).catch((error) => error);
      const second = loaded.run({ input: {}, resume: null }, () => undefined, NEVER).catch((error) => error);
      await began.promise;
      await loaded[Symbol.asyncDispose]();
      expect(await first).toMatchObject({ name: "JobFailure", retryable: true });
      expect(await first).not.toBeInstanceOf(CargoGone);
      expect(await second).toBeInstanceOf(CargoGone);
      await small.close();
    });

    it("grants a network of the Island's own to a Cargo that is granted one", async () => {
      await using loaded = await world.load(makeCargo(TALKER, { network: true }));
      const filters = { label: [`org.atoll.island=${world.islandId}`] };
      const [container] = await engine().docker.listContainers({ all: true, filters });
      expect(Object.keys(container?.NetworkSettings.Networks ?? {})).toEqual([`atoll-${world.islandId}`]);
      const network = engine().docker.getNetwork(`atoll-${world.islandId}`);
      expect(await network.inspect()).toMatchObject({
        Driver: "bridge",
        Options: { "com.docker.network.bridge.enable_icc": "false" },
      });
      const other = await world.load(makeCargo(TALKER, { network: true }));
      await loaded[Symbol.asyncDispose]();
      const result = await other.run({ input: {}, resume: null }, () => undefined, NEVER);
      expect(result).toMatchObject({ finishReason: "stop" });
      await other[Symbol.asyncDispose]();
      await expect(network.inspect()).rejects.toMatchObject({ statusCode: 404 });
    });

    it.each([
      ["this Island did not make", false, {}],
      ["lets containers reach each other", true, {}],
      ["is not a plain bridge", true, { Internal: true }],
    ])("refuses a network of its name that %s, and leaves it", async (fault, isOwn, wish) => {
      const name = `atoll-${world.islandId}`;
      const own = isOwn ? { Labels: { "org.atoll.island": world.islandId } } : {};
      const network = await engine().docker.createNetwork({ Name: name, Driver: "bridge", ...own, ...wish });
      await expect(world.load(makeCargo(TALKER, { network: true }))).rejects.toMatchObject({
        code: "runtime_unavailable",
        retryable: true,
        message: `The container engine of this Island has a network ${name} that ${fault}; its owner can remove it`,
      });
      await world.runtime.sweep(NEVER);
      await network.remove();
    });

    it("sweeps the network that an earlier process of the same Island left", async () => {
      const network = await engine().docker.createNetwork({
        Name: `atoll-${world.islandId}`,
        Driver: "bridge",
        Labels: { "org.atoll.island": world.islandId },
        Options: { "com.docker.network.bridge.enable_icc": "false" },
      });
      await world.runtime.sweep(NEVER);
      await expect(network.inspect()).rejects.toMatchObject({ statusCode: 404 });
    });

    it("sweeps what an earlier process of the same Island left, and nothing else", async () => {
      await world.unload();
      const { docker } = engine();
      const leave = (islandId: string) =>
        docker.createContainer({
          Image: TEST_IMAGE,
          Cmd: ["/bin/sleep", "1000"],
          Labels: { "org.atoll.island": islandId },
        });
      await (await leave(world.islandId)).start();
      await leave(world.islandId);
      const stranger = await leave("another");
      await using loaded = await world.load(makeCargo(TALKER));
      await leave(world.islandId);
      expect(await world.runtime.sweep(NEVER)).toBe(1);
      expect(await world.containers()).toBe(loaded.warmContainers);
      expect(await stranger.inspect()).toBeDefined();
      await stranger.remove();
    });

    it("probe() names the engine and its version", async () => {
      expect(await world.runtime.probe(NEVER)).toEqual({
        usable: true,
        version: expect.stringMatching(/^(Docker|Podman) \d/),
      });
    });

    it("says why there is no engine", async () => {
      const probe = (dockerHost: string): Promise<string> => world.probeAt(dockerHost);
      const server = createServer((_, response) => response.end("{}")).listen(join(world.directory, "other.sock"));
      await once(server, "listening");
      expect(await probe(`unix://${world.directory}/none.sock`)).toContain("found neither Docker nor Podman");
      expect(await probe(`unix://${world.directory}/other.sock`)).toContain("lacks");
      expect(await probe("tcp://127.0.0.1:1")).toContain("nothing listens at 127.0.0.1:1");
      expect(await probe("ssh://host")).toContain("DOCKER_HOST must be");
      await closeServer(server);
    });
  });

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
        const [name] = await names(world);
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

async function names(world: ContainerWorld): Promise<string[]> {
  const filters = { label: [`org.atoll.island=${world.islandId}`] };
  return (await world.engine.docker.listContainers({ all: true, filters })).map(({ Id: id }) => id);
}

async function untilBothBegan(begun: readonly number[], loaded: LoadedContainer): Promise<void> {
  await expect.poll(() => new Set(begun).size).toBe(loaded.concurrency);
}

async function closeServer(server: Server): Promise<void> {
  server.close();
  await once(server, "close");
}
