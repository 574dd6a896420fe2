import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { LoadedCargo } from "../../../../island-agent/runtimes/runtime.ts";
import { spawnedRuntime, type SpawnOptions } from "../../../../island-agent/runtimes/engine/spawned-engine.ts";
import { findProgram } from "../../../../island-agent/runtimes/sandbox/choose-sandbox.ts";
import { BARE } from "../../../../island-agent/runtimes/sandbox/sandbox.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { FakeRuntime } from "../../../support/models/fake-runtime.ts";
import { encodePng } from "../../../support/models/test-images.ts";
import { makeTinyGguf } from "../../../support/models/tiny-gguf.ts";
import { makeTinyProjector } from "../../../support/models/tiny-projector.ts";
import { llamaServerCommand, TINY_CHAT_MODEL } from "../../../support/servers/llama-server.ts";
import { requireDebian } from "../../../support/servers/require-debian.ts";
import { until } from "../../../support/http/http.ts";
import { makeManifest } from "../../builders.ts";
import { requireBubblewrap, sandboxFor } from "../sandbox/test-sandbox.ts";

const BY_SOCKET = "llama-server -m {model} --host {socket} -np {slots} -c {context} --threads 1";
const BY_PORT = BY_SOCKET.replace("--host {socket}", "--port {port}");
const CARGO = makeManifest({ slug: "tiny-chat", runtimeType: "llmcpp", contextTokens: 512, requiredRamBytes: 0 });
const COUNT = { messages: [{ role: "user", content: "Count from 3 to 9." }], temperature: 0 };
const LONG = { prompt: "a", temperature: 0, max_tokens: 30_000 };
const NEVER = new AbortController().signal;

const loaded: LoadedCargo[] = [];
const logged: { pid?: number; cargo?: string; reason?: string }[] = [];
let directory: string;
let projector: string;
/** Path of a model that generates without end. */
let endless: string;

beforeAll(async () => {
  requireDebian("llama-server", "llama.cpp-tools (test/support/servers/install-llama-server.sh)");
  directory = await mkdtemp(join(tmpdir(), "atoll-spawn-"));
  projector = join(directory, "mmproj.gguf");
  await writeFile(projector, await makeTinyProjector());
  endless = join(directory, "endless.gguf");
  await writeFile(endless, makeTinyGguf({ width: 256, layers: 4, contextTokens: 32_768 }));
});
afterAll(() => rm(directory, { recursive: true }));
afterEach(async () => {
  for (const cargo of loaded.splice(0)) await cargo[Symbol.asyncDispose]();
  logged.length = 0;
});

function runtimeOf(command = BY_SOCKET, changes: Partial<SpawnOptions> = {}) {
  const words = command.split(" ");
  const options: SpawnOptions = {
    command: words,
    program: findProgram(words[0] ?? "", process.env),
    setpriv: findProgram("setpriv", process.env),
    slots: 2,
    clock: systemClock,
    environment: process.env,
    sandbox: BARE,
    log: { info: (facts) => void logged.push(facts), warn: () => undefined },
    ...changes,
  };
  return spawnedRuntime(options, new FakeRuntime());
}

async function load(command?: string, changes?: Partial<SpawnOptions>, projectorPath: string | null = null) {
  const cargo = await runtimeOf(command, changes).load(CARGO, TINY_CHAT_MODEL, NEVER, undefined, [], projectorPath);
  loaded.push(cargo);
  return cargo;
}

/** Loads the endless model and starts a run of it. */
async function runEndlessly(signal = NEVER, ceilingBytes = Infinity, changes: Partial<SpawnOptions> = {}) {
  const manifest = { ...CARGO, contextTokens: 32_768 };
  const admit = async (estimate: () => Promise<unknown>) => estimate().then(() => ceilingBytes);
  const cargo = await runtimeOf(BY_SOCKET, changes).load(manifest, endless, NEVER, admit);
  loaded.push(cargo);
  const { promise: began, resolve } = Promise.withResolvers<void>();
  const run = cargo.run({ input: LONG, resume: null }, () => resolve(), signal);
  run.catch(() => undefined);
  await began;
  return { cargo, run };
}

async function textOf(cargo: LoadedCargo, input: object, signal = NEVER): Promise<string> {
  let text = "";
  await cargo.run(
    { input: { ...input }, resume: null },
    (item) => {
      if (item.type === "token") text += item.content;
    },
    signal,
  );
  return text;
}
const pid = (): number => logged.find((facts) => facts.pid !== undefined)?.pid ?? 0;
const isAlive = (): boolean => existsSync(`/proc/${pid()}`);

describe("a spawned llama-server", () => {
  it.each([
    ["a Unix socket", BY_SOCKET],
    ["a port", BY_PORT],
  ])("runs chats at %s, and ends at the unload", async (_where, command) => {
    const cargo = await load(command);
    expect(await textOf(cargo, COUNT)).toBe("3, 4, 5, 6, 7, 8, 9.");
    expect(cargo.concurrency).toBe(2);
    expect(cargo.memory?.ramBytes).toBeGreaterThan(1_000_000);
    const args = readFileSync(`/proc/${pid()}/cmdline`, "utf8").split("\0");
    await cargo[Symbol.asyncDispose]();
    await cargo.gone;
    expect(isAlive()).toBe(false);
    const socket = args.find((word) => word.endsWith("e.sock"));
    expect(socket === undefined ? command : existsSync(socket)).toBe(command === BY_SOCKET ? false : command);
  });

  it("refuses other programs of the machine, which do not have its API key", async () => {
    await load(BY_PORT);
    const port = /--port\0(\d+)/.exec(readFileSync(`/proc/${pid()}/cmdline`, "latin1"))?.[1];
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    const body = JSON.stringify(COUNT);
    expect((await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: "POST", body })).status).toBe(401);
  });

  it("reads images with the Cargo's projector", async () => {
    const cargo = await load(BY_SOCKET, {}, projector);
    const asking = (colour: "red" | "green") => {
      const png = encodePng(32, 32, [{ colour, left: 0, top: 0, right: 32, bottom: 32 }]).toString("base64");
      const image = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };
      return { messages: [{ role: "user", content: [image] }], temperature: 0, max_tokens: 16 };
    };
    expect(await textOf(cargo, asking("green"))).toBe("I am well, thank you. The sea is calm today.");
    expect(await textOf(cargo, asking("red"))).toMatch(/^Every morning/);
  });

  it("fails a chat with a damaged image, which no other Island could read", async () => {
    const cargo = await load(BY_SOCKET, {}, projector);
    const url = `data:image/png;base64,${encodePng(32, 32, []).subarray(0, 50).toString("base64")}`;
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
    await expect(textOf(cargo, { messages })).rejects.toMatchObject({ code: "invalid_input", retryable: false });
  });

  it("stops the work of a cancelled run", async () => {
    const abort = new AbortController();
    const { cargo, run } = await runEndlessly(abort.signal);
    abort.abort(new Error("cancelled"));
    await expect(run).rejects.toThrow("cancelled");
    expect(isAlive()).toBe(true);
    expect(await textOf(cargo, { ...LONG, max_tokens: 3 })).toHaveLength(3);
  });

  it("is killed if a cancelled run does not end", async () => {
    const abort = new AbortController();
    const { cargo, run } = await runEndlessly(abort.signal, Infinity, { killAfterMs: 300 });
    process.kill(pid(), "SIGSTOP");
    abort.abort(new Error("cancelled"));
    await expect(run).rejects.toThrow("cancelled");
    await cargo.gone;
    expect(logged.at(-1)?.reason).toMatch(/did not stop a cancelled run within 0.3 s$/);
  });

  it("fails its runs and is gone when the process ends", async () => {
    const { cargo, run } = await runEndlessly();
    process.kill(pid(), "SIGKILL");
    await expect(run).rejects.toMatchObject({ code: "runtime_crashed", retryable: true });
    await cargo.gone;
    await expect(textOf(cargo, COUNT)).rejects.toThrow(/no longer serves/);
  });

  it("is killed above its limit of RAM", async () => {
    const run = runEndlessly(NEVER, 1_000).then((running) => running.run);
    await expect(run).rejects.toMatchObject({ code: "out_of_memory" });
  });

  it.each([
    ["without a network, at a Unix socket", "--host {socket}", false],
    ["with the machine's network, at a port", "--port {port}", true],
  ])("runs in the sandbox %s", async (_how, address, network) => {
    requireBubblewrap();
    const sandbox = sandboxFor({ gpu: false, mayFork: true, network });
    const command = `${llamaServerCommand().replaceAll('"', "")} -m {model} ${address} -np {slots} -c {context}`;
    const cargo = await load(command, { sandbox });
    expect(await textOf(cargo, COUNT)).toBe("3, 4, 5, 6, 7, 8, 9.");
    expect(readlinkSync(`/proc/${pid()}/ns/net`) === readlinkSync("/proc/self/ns/net")).toBe(network);
    expect(existsSync(`/proc/${pid()}/root/etc/passwd`)).toBe(false);
  });

  it("does not outlive the agent's process", async () => {
    const script = `
      import { spawnedRuntime } from ${JSON.stringify(join(import.meta.dirname, "../../../../island-agent/runtimes/engine/spawned-engine.ts"))};
      import { systemClock } from ${JSON.stringify(join(import.meta.dirname, "../../../../shared/clock.ts"))};
      const log = { info: ({ pid }) => { process.stdout.write(String(pid)); process.kill(process.pid, "SIGKILL"); }, warn() {} };
      const sandbox = { kind: "none", wrap: (command) => ({ ...command, inputs: [], depth: 0 }) };
      const options = ${JSON.stringify({ command: BY_SOCKET.split(" "), program: findProgram("llama-server", process.env), setpriv: findProgram("setpriv", process.env), slots: 1 })};
      const runtime = spawnedRuntime({ ...options, clock: systemClock, environment: process.env, sandbox, log }, {});
      await runtime.load(${JSON.stringify(CARGO)}, ${JSON.stringify(TINY_CHAT_MODEL)}, new AbortController().signal);`;
    let printed = "";
    try {
      execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8", stdio: "pipe" });
    } catch (error) {
      printed = (error as { stdout: string }).stdout;
    }
    expect(Number(printed)).toBeGreaterThan(0);
    await until(
      async () => existsSync(`/proc/${printed}`),
      (exists) => !exists,
      "the server has ended",
    );
  });
});

describe("the load of a spawned engine fails", () => {
  it.each([
    [
      "with too little context",
      `${BY_SOCKET} -c 256`,
      /gives a run 256 tokens of context, tiny-chat needs 512: add -c/,
    ],
    ["for an unknown flag", `${BY_SOCKET} --no-such-flag`, /does not run any more: it ended with code 1$/],
  ])("%s", async (_why, command, message) => {
    await expect(load(command)).rejects.toMatchObject({ message: expect.stringMatching(message) as string });
  });

  it("when it takes too long", async () => {
    const limits = { estimateMs: 1, loadBaseMs: 200, minBytesPerS: Infinity };
    // It never listens.
    const command = "sh -c exec\\tsleep\\t60 {model} {socket}".replaceAll("\\t", "\t");
    await expect(load(command, { limits })).rejects.toThrow(/did not load the model within 0.2 s/);
  });

  it("when it is aborted", async () => {
    const abort = new AbortController();
    const load = runtimeOf().load(CARGO, TINY_CHAT_MODEL, abort.signal, async () => {
      setTimeout(() => abort.abort(new Error("no job waits")), 20);
      return Infinity;
    });
    await expect(load).rejects.toThrow("no job waits");
  });
});

it("a spawned engine whose program is missing is unusable, and its probe says what to do", async () => {
  expect(await runtimeOf("no-such-server -m {model} --host {socket}").probe(NEVER)).toEqual({
    usable: false,
    reason: "engines.command starts no-such-server, which is not in PATH. Install it, or unset engines.command",
  });
});
