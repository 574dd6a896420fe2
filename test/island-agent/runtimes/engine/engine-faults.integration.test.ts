import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../support/manual-clock.ts";
import { EngineReplay, type Misbehaviour } from "../../../support/servers/engine-replay.ts";
import { until } from "../../../support/http/http.ts";
import { NEVER } from "../../builders.ts";
import type { ServedModel } from "../../../../island-agent/runtimes/engine/attached-engine.ts";
import { EngineWorld } from "./engine-world.ts";

const RUNS = /^\/v1\/(?!models)/;
const ALL = /./;

/** An llama-server whose file this machine lacks. */
async function openWorld(
  slots = 1,
): Promise<AsyncDisposable & { replay: EngineReplay; world: EngineWorld; clock: ManualClock }> {
  await using stack = new AsyncDisposableStack();
  const replay = stack.use(await EngineReplay.open("llama-server"));
  replay.responses["GET /metrics"] = "llamacpp:requests_processing 0\n";
  const clock = new ManualClock();
  const world = stack.use(await EngineWorld.open(replay.url, { slots, clock }));
  const opened = stack.move();
  return { replay, world, clock, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describe("a run on an engine that misbehaves", () => {
  it.each<[Misbehaviour, string, string]>([
    ["cut", "runtime_unavailable", "paused"],
    ["no-finish", "runtime_unavailable", "paused"],
    ["garbage-sse", "runtime_unavailable", "paused"],
    ["garbage-json", "runtime_unavailable", "paused"],
    ["html", "runtime_unavailable", "paused"],
    ["huge", "runtime_unavailable", "paused"],
    ["endless-line", "runtime_unavailable", "paused"],
    ["wrong-model", "runtime_unavailable", "paused"],
    ["out-of-memory", "out_of_memory", "paused"],
    ["out-of-memory-in-stream", "out_of_memory", "paused"],
    [{ status: 429, headers: { "retry-after": "7" } }, "runtime_unavailable", "paused"],
    [{ status: 503, body: '{"error":{"message":"Loading model"}}' }, "runtime_unavailable", "paused"],
    [{ status: 401 }, "runtime_unavailable", "paused"],
    [{ status: 404 }, "runtime_unavailable", "paused"],
    ["redirect", "runtime_unavailable", "ready"],
    [{ status: 400 }, "runtime_unavailable", "ready"],
    [{ status: 500 }, "runtime_unavailable", "ready"],
  ])("%s fails with %s, retryable, and the engine is then %s", async (how, code, state) => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    replay.misbehave(how);
    await expect(world.chat()).rejects.toMatchObject({ code, retryable: true });
    expect(world.engine.status()).toMatchObject({ state, running: 0 });
    if (state === "paused") expect(world.engine.status().problem).toContain("The engine");
  });

  it("is complete although each byte comes in a packet of its own", async () => {
    await using opened = await openWorld();
    opened.replay.misbehave("drip");
    expect((await opened.world.chat()).text).toBe("The sea is calm.");
  });

  it("fails the job if its prompt is too long", async () => {
    await using opened = await openWorld();
    const message = "the request exceeds the available context size, try increasing it";
    opened.replay.misbehave({ status: 400, body: JSON.stringify({ error: { message } }) });
    await expect(opened.world.chat()).rejects.toMatchObject({ code: "context_length_exceeded", retryable: false });
    expect(opened.world.engine.status().state).toBe("ready");
  });

  it.each([
    // vLLM 0.11, current vLLM (twice) and SGLang.
    "'max_tokens' is too large: 8000. This model's maximum context length is 4096 tokens and your request has 2778 input tokens",
    "This model's maximum context length is 4096 tokens. However, you requested 4000 output tokens and your prompt contains at least 97 input tokens",
    "max_tokens=8000 cannot be greater than max_model_len=max_total_tokens=4096",
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 4190 tokens",
  ])("repeats a chat without its limit if the engine responds: %s", async (message) => {
    await using replay = await EngineReplay.open("vllm");
    await using world = await EngineWorld.open(replay.url);
    replay.misbehave({ status: 400, body: JSON.stringify({ error: { message } }) }, RUNS, 1);
    expect((await world.chat({ max_tokens: 8_000 })).text).toBe("The sea is calm.");
    expect(replay.posted.map(({ body }) => body["max_tokens"])).toEqual([8_000, null]);
  });

  it("fails retryably if its prompt is too long for a context that the engine does not report", async () => {
    await using replay = await EngineReplay.open("local-ai");
    await using world = await EngineWorld.open(replay.url, { clock: new ManualClock() });
    const message = "This model's maximum context length is 2048 tokens";
    replay.misbehave({ status: 400, body: JSON.stringify({ error: { message } }) });
    await expect(world.chat()).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
  });

  it("does not follow redirects", async () => {
    await using opened = await openWorld();
    await using other = await EngineReplay.open("llama-server");
    opened.replay.misbehave({ status: 307, headers: { location: `${other.url}/v1/chat/completions` } });
    await expect(opened.world.chat()).rejects.toThrow("status 307");
    expect(other.connections).toBe(0);
  });

  it.each<Misbehaviour>(["hang", "hang-in-stream"])(
    "%s ends within 2 s when it is cancelled, and so does the engine's work",
    async (how) => {
      await using opened = await openWorld();
      const { replay, world } = opened;
      replay.misbehave(how);
      const abort = new AbortController();
      const reason = new Error("cancelled");
      const run = world.chat({}, abort.signal);
      await expect.poll(() => replay.running).toBe(1);
      abort.abort(reason);
      await expect(run).rejects.toBe(reason);
      await expect.poll(() => [replay.running, replay.cancelled]).toEqual([0, 1]);
      expect(world.engine.status().state).toBe("ready");
    },
  );

  it("ends at once when it is cancelled while the engine's identity is checked", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    // Another process may listen now.
    replay.dropConnections();
    replay.misbehave("hang", /^\/props$/);
    const abort = new AbortController();
    const run = world.chat({}, abort.signal);
    await expect.poll(() => replay.posted.length).toBe(1);
    abort.abort(new Error("cancelled"));
    await expect(run).rejects.toThrow("cancelled");
  });
});

describe("an engine that is paused", () => {
  it("gets no jobs until the time in Retry-After is over", async () => {
    await using opened = await openWorld();
    const { replay, world, clock } = opened;
    replay.misbehave({ status: 429, headers: { "retry-after": "7" } }, RUNS, 1);
    await expect(world.chat()).rejects.toThrow("status 429");
    expect([world.engine.served, world.engine.status().problem]).toEqual([[], expect.stringContaining("429")]);
    clock.advance(6_999);
    await world.engine.check();
    expect(world.engine.status().state).toBe("paused");
    clock.advance(1);
    await until(
      async () => world.engine.status().state,
      (state) => state === "ready",
      "the pause is over",
    );
    expect((await world.chat()).text).toBe("The sea is calm.");
    expect(world.engine.status().problem).toBeNull();
  });

  it("is not ready when a check ends that began before the pause", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    const health = Promise.withResolvers<void>();
    replay.hold("/health", health.promise);
    const check = world.engine.check();
    replay.misbehave("html");
    await expect(world.chat()).rejects.toThrow("content type");
    health.resolve();
    await check;
    expect(world.engine.status().state).toBe("paused");
  });

  it("is paused for longer after each failure in a row", async () => {
    await using opened = await openWorld();
    const { replay, world, clock } = opened;
    replay.misbehave("cut");
    for (const pauseMs of [1_000, 2_000, 4_000]) {
      await expect(world.chat()).rejects.toThrow(/closed the connection|does not respond/);
      clock.advance(pauseMs - 1);
      await world.engine.check();
      expect(world.engine.status().state).toBe("paused");
      clock.advance(1);
      await world.engine.check();
      expect(world.engine.status().state).toBe("ready");
    }
  });

  it("is paused once for several runs that one fault ended", async () => {
    await using opened = await openWorld(4);
    const { replay, world, clock } = opened;
    replay.misbehave("hang-in-stream");
    const runs = Array.from({ length: 4 }, () => world.chat());
    await expect.poll(() => replay.running).toBe(4);
    replay.dropConnections();
    await Promise.allSettled(runs);
    clock.advance(1_000);
    await world.engine.check();
    expect(world.engine.status().state).toBe("ready");
  });

  it("follows three failed runs in a row, whatever failed", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    replay.misbehave({ status: 500, body: "boom" });
    const states: string[] = [];
    for (let run = 0; run < 3; run += 1) {
      await expect(world.chat()).rejects.toThrow("boom");
      states.push(world.engine.status().state);
    }
    expect(states).toEqual(["ready", "ready", "paused"]);
    expect(world.engine.status().pauseMs).toBe(2_000);
  });

  it.each([400, 413, 422])("does not follow runs whose requests the engine refuses with %i", async (status) => {
    await using opened = await openWorld();
    opened.replay.misbehave({ status, body: "no" });
    for (let run = 0; run < 4; run += 1) {
      await expect(opened.world.chat()).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
    }
    expect(opened.world.engine.status().state).toBe("ready");
  });
});

describe("an engine that changes", () => {
  it("is unavailable while it does not listen, and its Cargos are gone", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    const cargo = world.load();
    await replay[Symbol.asyncDispose]();
    await world.engine.check();
    await cargo.gone;
    expect(world.engine.status()).toMatchObject({ state: "unavailable", name: null, models: [] });
    expect(world.engine.status().problem).toContain("ECONNREFUSED");
    await expect(world.chat({}, NEVER, cargo)).rejects.toThrow("no longer serves");
  });

  it.each<Misbehaviour>(["hang", "huge", "garbage-json", "html", { status: 503 }])(
    "is unavailable while its checks get %s",
    async (how) => {
      await using opened = await openWorld();
      opened.replay.misbehave(how, ALL);
      await opened.world.engine.check();
      const { state, problem } = opened.world.engine.status();
      expect([state, problem?.length]).toEqual(["unavailable", expect.toSatisfy((length: number) => length < 500)]);
    },
  );

  it("reports another context or ability of the same model", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    const before = world.changes;
    await world.engine.check();
    expect(world.changes).toBe(before);
    Object.assign(replay.responses["GET /props"] as object, { default_generation_settings: { n_ctx: 2_048 } });
    await world.engine.check();
    expect(world.changes).toBe(before + 1);
    expect(world.engine.served.map(({ model }) => model.contextTokens)).toEqual([2_048]);
    Object.assign(replay.responses["GET /props"] as object, { modalities: { vision: true } });
    await world.engine.check();
    expect(world.changes).toBe(before + 2);
  });

  it("has its model proved once the model's file can be read, although the file has not changed", async () => {
    await using replay = await EngineReplay.open("llama-server");
    const sha256 = "a".repeat(64);
    let isReadable = false;
    const facts = { hashOf: () => Promise.resolve(isReadable ? sha256 : null) };
    await using world = await EngineWorld.open(replay.url, { clock: new ManualClock(), facts });
    const [declared] = world.engine.served;
    await world.engine.check();
    expect(world.engine.served[0]).toEqual(declared);
    isReadable = true;
    await world.engine.check();
    expect(world.engine.served.map(({ key }) => key)).toEqual([sha256]);
    await declared?.gone;
  });

  it("gets no jobs for a model that it no longer has", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    const cargo = world.load();
    replay.rename("/models/other.gguf");
    await world.engine.check();
    await cargo.gone;
    expect(world.engine.served.map(({ key }) => key)).toEqual(["engine:other"]);
  });

  it("fails the run that finds another model on a new connection, although the response is valid", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    replay.dropConnections();
    replay.rename("/models/other.gguf");
    // The engine responds in the name of the model that was asked for.
    replay.keepName("/models/tiny-islander.gguf");
    await expect(world.chat()).rejects.toThrow("no longer serves the model /models/tiny-islander.gguf");
    expect(world.engine.status().state).toBe("paused");
  });

  it("fails the run that finds another model on a kept connection", async () => {
    await using replay = await EngineReplay.open("vllm");
    await using world = await EngineWorld.open(replay.url);
    const [{ model }] = world.engine.served as [ServedModel];
    // All sockets have served a run.
    for (let run = 0; run < 4; run += 1) await world.chat();
    replay.rename("other");
    replay.keepName(model.id);
    await expect(world.chat()).rejects.toThrow(`no longer serves the model ${model.id}`);
  });

  it("asks llama-server for its models again only if its process may have ended", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    const requestsOf = async (): Promise<number> => {
      const before = replay.authorizations.length;
      await world.chat();
      return replay.authorizations.length - before;
    };
    expect([await requestsOf(), await requestsOf()]).toEqual([1, 1]);
    replay.dropConnections();
    expect([await requestsOf(), await requestsOf()]).toEqual([4, 1]);
  });

  it("fails a run after another model was found for a cancelled one", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    replay.dropConnections();
    replay.rename("/models/other.gguf");
    replay.keepName("/models/tiny-islander.gguf");
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    replay.hold("/props", released);
    const abort = new AbortController();
    const cancelled = world.chat({}, abort.signal);
    await expect.poll(() => replay.posted.length).toBe(1);
    abort.abort(new Error("cancelled"));
    await expect(cancelled).rejects.toThrow("cancelled");
    const before = replay.authorizations.length;
    release();
    // The check of the cancelled run reads two more endpoints.
    await expect.poll(() => replay.authorizations.length).toBe(before + 2);
    await expect(world.chat()).rejects.toThrow("no longer serves the model /models/tiny-islander.gguf");
  });

  it("serves a job on a new connection, if the old one was closed at the moment of its use", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    // The second run begins before the socket of the first is free, so the third uses an old socket.
    for (let run = 0; run < 2; run += 1) await world.chat();
    replay.resetNext();
    expect((await world.chat()).text).toBe("The sea is calm.");
    expect(world.engine.status().state).toBe("ready");
  });

  it("ends its runs after the second check without response, because a hung engine never does", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    replay.misbehave("hang-in-stream");
    const run = world.chat();
    await expect.poll(() => replay.running).toBe(1);
    replay.misbehave({ status: 503 }, /^\/(?:health|props|metrics)/);
    await world.engine.check();
    expect(replay.running).toBe(1);
    await world.engine.check();
    await expect(run).rejects.toMatchObject({ code: "runtime_unavailable" });
    await expect.poll(() => replay.running).toBe(0);
  });

  it("is a failure with the address if another protocol listens", async () => {
    const server = createServer((socket) => socket.end("SSH-2.0-OpenSSH\r\n"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    await using world = await EngineWorld.open(`http://127.0.0.1:${port}`);
    expect(world.engine.status()).toMatchObject({ state: "unavailable", problem: expect.stringContaining(`:${port}`) });
    server.close();
  });
});

describe("an agent that closes", () => {
  it("ends a check of a hung engine at once, and begins no other", async () => {
    await using replay = await EngineReplay.open("llama-server");
    const clock = new ManualClock();
    await using world = await EngineWorld.open(replay.url, { clock });
    replay.misbehave("hang", ALL);
    const check = world.engine.check();
    await world.engine[Symbol.asyncDispose]();
    await check;
    expect(clock.pendingTimers).toBe(0);
    await world.engine.check();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("the slots of an engine", () => {
  it("limit the runs, and a waiting run reports the progress of others", async () => {
    await using opened = await openWorld(2);
    const { replay, world } = opened;
    replay.pauseMs = 5;
    const cargo = world.load();
    let working = 0;
    let most = 0;
    const request = { input: { prompt: "Hi" }, resume: null };
    const note = (): void => void (most = Math.max(most, replay.running));
    const runs = Array.from({ length: 6 }, () => cargo.run(request, note, NEVER, { onWorking: () => (working += 1) }));
    await Promise.all(runs);
    expect(most).toBe(2);
    expect(working).toBeGreaterThan(0);
  });

  it("are measured once, again after a day, and again after the engine was unavailable", async () => {
    await using replay = await EngineReplay.open("vllm");
    const clock = new ManualClock();
    await using world = await EngineWorld.open(replay.url, { slots: null, clock });
    const measured = replay.posted.length;
    expect(measured).toBeGreaterThan(3);
    await world.engine.check();
    expect(replay.posted).toHaveLength(measured);
    clock.advance(24 * 3_600_000);
    await world.engine.check();
    const again = replay.posted.length;
    expect(again).toBeGreaterThan(measured);
    replay.misbehave({ status: 503 }, ALL, 1);
    await world.engine.check();
    expect(world.engine.status().state).toBe("unavailable");
    await world.engine.check();
    expect(replay.posted.length).toBeGreaterThan(again);
  });

  it("are left to other clients, and an engine without a free slot is busy", async () => {
    await using replay = await EngineReplay.open("llama-server");
    await using world = await EngineWorld.open(replay.url, { slots: 3 });
    expect([world.engine.status().othersRunning, world.engine.jobSlots === 0]).toEqual([3, true]);
    replay.responses["GET /metrics"] = "llamacpp:requests_processing 1\n";
    await world.engine.check();
    expect([world.engine.status().othersRunning, world.engine.jobSlots === 0]).toEqual([1, false]);
  });
});

describe("an engine that loads its model", () => {
  it("lets a run and those behind it report progress at each check, until the first output", async () => {
    await using opened = await openWorld();
    const { replay, world } = opened;
    const loaded = Promise.withResolvers<void>();
    replay.hold("/v1/chat/completions", loaded.promise);
    const working = [0, 0];
    const runs = working.map((_, run) => {
      const onWorking = (): void => void (working[run] = (working[run] ?? 0) + 1);
      return world.load().run({ input: { prompt: "Hi" }, resume: null }, () => undefined, NEVER, { onWorking });
    });
    await world.engine.check();
    await world.engine.check();
    expect(working).toEqual([2, 2]);
    loaded.resolve();
    await Promise.all(runs);
    const [first] = working;
    await world.engine.check();
    expect(working[0]).toBe(first);
  });

  it("is unavailable, although it lists the model already", async () => {
    await using replay = await EngineReplay.open("llama-server");
    const body = '{"error":{"message":"Loading model","type":"unavailable_error","code":503}}';
    replay.misbehave({ status: 503, body }, /^\/(?!v1\/models)/);
    await using world = await EngineWorld.open(replay.url, { clock: new ManualClock() });
    expect(world.engine.status()).toMatchObject({
      state: "unavailable",
      problem: expect.stringContaining("Loading model"),
    });
    replay.behave();
    await world.engine.check();
    expect(world.engine.status()).toMatchObject({ state: "ready", name: "llama-server" });
  });
});
