import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OutputItem } from "../../../../../shared/output.ts";
import type { LoadedContainer } from "../../../../../island-agent/runtimes/container/loaded-container.ts";
import { CargoGone } from "../../../../../island-agent/runtimes/runtime.ts";
import { describeRuntime } from "../../runtime.contract.ts";
import { importTestImage, type TestEngine } from "../../../../support/servers/container-engine.ts";
import { ContainerWorld, LONG, makeCargo, MIB, NEVER, TALKER } from "./container-support.ts";
import { estimateOf } from "../../../../support/models/estimate-of.ts";

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
    it("writes the input as one line of JSON, and returns every kind of output", async () => {
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

    it("writes an input with the largest files of a job", async () => {
      const script = `bytes=$(wc -c); echo "{\\"type\\":\\"done\\",\\"output\\":$bytes}"`;
      const input = { sound: "A".repeat(44_000_000) };
      const { output } = await world.run(makeCargo(script), input);
      expect(output).toBe(JSON.stringify(input).length + 1);
    });

    it("delivers lines as they are written, and none after an abort", async () => {
      const controller = new AbortController();
      const items: OutputItem[] = [];
      const run = world.run(makeCargo(TALKER), LONG, controller.signal, (item) => {
        items.push(item);
        if (items.length === 3) controller.abort(new Error("enough"));
      });
      await expect(run).rejects.toThrow("enough");
      expect(items).toHaveLength(3);
    });

    it("delivers no more lines of the same chunk after an abort", async () => {
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

    it("fails with the message of the program's error line", async () => {
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
    ])("describes how a program ended: %s", async (work, retryable, message) => {
      await expect(world.shell(work)).rejects.toMatchObject({
        code: "cargo_failed",
        retryable,
        message: expect.stringContaining(message),
      });
    });

    it("reports the exit code of a program that did not read its input", async () => {
      const input = { text: "x".repeat(2_000_000) };
      await expect(world.run(makeCargo("sleep 0.1; exit 3"), input)).rejects.toMatchObject({
        code: "cargo_failed",
        message: expect.stringContaining("exit code 3"),
      });
    });

    it("waits for the exit code of a program that closed its output", async () => {
      await expect(world.shell("exec >&- 2>&-; sleep 0.2; exit 5")).rejects.toMatchObject({
        message: expect.stringContaining("exit code 5"),
      });
    });

    it("does not wait for the exit of a program that wrote its done line", async () => {
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
    ])("refuses an image that cannot be started as not retryable: %s", async (change, message) => {
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

    it("accepts different spellings of the same volume", async () => {
      const image = "docker.io/atoll/odd:1";
      await importTestImage(engine().docker, image, ['VOLUME ["/tmp/", "/data/x/..", "/data", "/dev/shm"]']);
      expect(await world.run(makeCargo(TALKER, { image }))).toMatchObject({ finishReason: "stop" });
      await engine().docker.getImage(image).remove();
    });

    it("refuses a GPU that the owner does not share or the engine cannot use", async () => {
      const cargo = makeCargo(TALKER, { gpu: true });
      const refusal = { code: "runtime_unavailable", retryable: true };
      await expect(world.load(cargo)).rejects.toMatchObject({
        ...refusal,
        message: expect.stringContaining("does not share one"),
      });
      const withGpu = await ContainerWorld.open(engine(), { hasGpu: true });
      await expect(withGpu.load(cargo)).rejects.toMatchObject({
        ...refusal,
        message: expect.stringContaining("cannot use a GPU"),
      });
      await withGpu.close();
    });

    it("leaves no container after an aborted load", async () => {
      await world.unload();
      const stop = new AbortController();
      const loading = world.runtime.load(makeCargo(TALKER), null, stop.signal);
      await expect.poll(() => world.containers()).toBe(1);
      stop.abort(new Error("not wanted"));
      // The load may already have completed.
      const outcome = await loading.then(
        async (loaded) => loaded[Symbol.asyncDispose](),
        (error: Error) => error.message,
      );
      expect(["not wanted", undefined]).toContain(outcome);
      await expect.poll(() => world.containers()).toBe(0);
    });

    it("refuses to continue the text of another attempt", async () => {
      await using loaded = await world.load(makeCargo(TALKER));
      const resume = { text: "one ", tokens: 1 };
      await expect(loaded.run({ input: {}, resume }, () => undefined, NEVER)).rejects.toMatchObject({
        code: "cannot_resume",
      });
    });

    it("runs as many jobs at once as fit in memory, and the others afterwards", async () => {
      const small = await ContainerWorld.open(engine(), { concurrency: 3, ramBytes: 100 * MIB });
      expect(await estimateOf(small.runtime, makeCargo(""), null)).toEqual({ ramBytes: 96 * MIB, vramBytes: 0 });
      await using loaded = await small.load(makeCargo(TALKER));
      expect(loaded).toMatchObject({ concurrency: 2, memory: { ramBytes: 96 * MIB } });
      const stop = new AbortController();
      const begun: number[] = [];
      const endless = [1, 2].map((run) =>
        loaded.run({ input: LONG, resume: null }, () => void begun.push(run), stop.signal).catch(() => undefined),
      );
      await untilBothBegan(begun, loaded);
      const third = loaded.run({ input: {}, resume: null }, () => void begun.push(3), NEVER);
      stop.abort(new Error("free a slot"));
      await third;
      await Promise.all(endless);
      expect(begun.indexOf(3)).toBeGreaterThan(Math.max(begun.indexOf(1), begun.indexOf(2)));
      await small.close();
    });

    it("rejects waiting jobs with CargoGone when it is unloaded", async () => {
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

    it("returns the engine and its version from probe()", async () => {
      expect(await world.runtime.probe(NEVER)).toEqual({
        usable: true,
        version: expect.stringMatching(/^(Docker|Podman) \d/),
      });
    });

    it("returns why no engine is usable", async () => {
      const probe = (dockerHost: string): Promise<string> => world.probeAt(dockerHost);
      const server = createServer((_, response) => response.end("{}")).listen(join(world.directory, "other.sock"));
      await once(server, "listening");
      expect(await probe(`unix://${world.directory}/none.sock`)).toContain("neither Docker nor Podman was found");
      expect(await probe(`unix://${world.directory}/other.sock`)).toContain("lacks");
      expect(await probe("tcp://127.0.0.1:1")).toContain("no engine listens at 127.0.0.1:1");
      expect(await probe("ssh://host")).toContain("DOCKER_HOST must be");
      await closeServer(server);
    });
  });
}

async function untilBothBegan(begun: readonly number[], loaded: LoadedContainer): Promise<void> {
  await expect.poll(() => new Set(begun).size).toBe(loaded.concurrency);
}

async function closeServer(server: Server): Promise<void> {
  server.close();
  await once(server, "close");
}
