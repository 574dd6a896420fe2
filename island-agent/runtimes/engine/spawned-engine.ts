import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { CargoManifest } from "../../../shared/cargo.ts";
import type { Clock, Timer } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Logger } from "../../../shared/logger.ts";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import { type Environment, hostEnvironment } from "../host/host-environment.ts";
import { bytesAt, DEFAULT_LOAD_LIMITS, loadLimitMs, type LoadLimits } from "../host/load-limit.ts";
import { watchMemory } from "../host/memory-watch.ts";
import type { CargoRuntime, LoadedCargo, MemoryUse } from "../runtime.ts";
import type { Launch, Sandbox } from "../sandbox/sandbox.ts";
import type { AttachedEngine } from "./attached-engine.ts";
import { engineCargo } from "./engine-cargo.ts";
import { connectEngine, EngineFailure, type EngineConnection } from "./engine-connection.ts";
import { llamaServer } from "./profiles/llama-server.ts";
import { startServer, type ServerProcess } from "../host/server-process.ts";

const DEFAULT_CONTEXT_TOKENS = 4_096;
const HEALTH_EVERY_MS = 5_000;
/** Failed health checks in a row after which the server counts as hung. */
const MAX_UNHEALTHY = 3;
const POLL_MS = 50;
/** Wait for the exit of a process whose connection broke, which explains why. */
const EXIT_GRACE_MS = 300;

export interface SpawnOptions {
  /** Words of the owner's command, with placeholders. */
  readonly command: readonly string[];
  /** Path of the command's program; null if it is not installed. */
  readonly program: string | null;
  /** Path of util-linux' `setpriv`, with which the server ends with the agent; null: not on this system. */
  readonly setpriv: string | null;
  /** Runs that one server works on at the same time. */
  readonly slots: number;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly sandbox: Sandbox;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly limits?: LoadLimits;
  /** Time in which a cancelled run must stop. Default 2,000 ms (decision 0033). */
  readonly killAfterMs?: number;
}

/** A connection of one server: a Unix socket in a folder of its own, or a TCP port. */
interface Place {
  readonly socket: string | null;
  readonly port: number | null;
}

/**
 * Runs GGUF models in servers that a command of the owner starts, one for each loaded Cargo.
 * @param otherwise runs Cargos with adapters or a task, which the command does not support
 */
export function spawnedRuntime(options: SpawnOptions, otherwise: CargoRuntime): CargoRuntime {
  const { program, command } = options;
  return {
    type: "llmcpp",
    probe: () => {
      const reason = `engines.command starts ${command[0]}, which is not in PATH. Install it, or unset engines.command`;
      return Promise.resolve(
        program === null ? { usable: false, reason } : { usable: true, version: basename(program) },
      );
    },
    load(cargo, modelPath, signal, admit, adapterPaths = [], projectorPath = null) {
      if (cargo.task !== undefined || adapterPaths.length > 0) {
        return otherwise.load(cargo, modelPath, signal, admit, adapterPaths);
      }
      if (modelPath === null) throw new JobFailure("model_invalid", `Cargo ${cargo.slug} has no model`);
      // All parts of a split model are in the folder of its first file.
      const folder = cargo.parts === undefined ? modelPath : dirname(modelPath);
      return loadServer(options, { cargo, modelPath, folder, projectorPath }, signal, admit);
    },
  };
}

interface SpawnedModel {
  readonly cargo: CargoManifest;
  readonly modelPath: string;
  /** The model's file, or the folder of its parts. */
  readonly folder: string;
  readonly projectorPath: string | null;
}

async function loadServer(
  options: SpawnOptions,
  model: SpawnedModel,
  signal: AbortSignal,
  admit: Parameters<CargoRuntime["load"]>[3],
): Promise<LoadedCargo> {
  const { clock, log, limits = DEFAULT_LOAD_LIMITS } = options;
  const { cargo, folder } = model;
  const estimated = await estimate(model);
  const ceilingBytes = (await admit?.(() => Promise.resolve(estimated))) ?? Infinity;
  signal.throwIfAborted();
  const stack = new AsyncDisposableStack();
  try {
    const place = await findPlace(options.command, stack);
    const apiKey = randomBytes(24).toString("hex");
    const name = basename(options.program ?? "");
    const server = startServer(name, await launchOf(options, model, place, apiKey));
    stack.defer(async () => {
      server.kill("it was unloaded");
      await server.ended;
    });
    const url = `http://127.0.0.1:${place.port ?? 80}`;
    const assertRuns = async (): Promise<void> => {
      if (!server.isRunning) throw server.failure();
    };
    const connection = stack.use(connectEngine(url, apiKey, assertRuns, place.socket));
    let memory = estimated;
    const onMeasured = (ramBytes: number): void => {
      memory = { ...memory, ramBytes };
    };
    stack.defer(watchMemory(server, { clock, ceilingBytes, onMeasured }));
    const limitMs = await loadLimitMs(limits, folder);
    await untilHealthy(server, connection, clock, limitMs, signal);
    const served = await readModel(connection, model);
    stack.defer(watchHealth(server, connection, clock));
    const { pid } = server;
    log.info({ cargo: cargo.slug, pid, ...memory }, `${name} loaded a model`);
    const gone = server.ended.then(() => {
      const { stderrTail: stderr } = server;
      log.info({ cargo: cargo.slug, pid, reason: server.failure().message, stderr }, `${name} has ended`);
    });
    const engine = engineOf(server, connection, options);
    const onEngine = engineCargo(engine, { model: served, gone: server.ended }, cargo);
    const held = stack.move();
    return {
      get memory() {
        return memory;
      },
      concurrency: options.slots,
      gone,
      async run(request, ...args) {
        const { tools } = request.input;
        if (served.lacks.includes("tools") && Array.isArray(tools) && tools.length > 0) {
          // The server would drop them.
          throw unusable(`The chat template of ${cargo.slug} does not describe tools to llama-server`);
        }
        return onEngine.run(request, ...args);
      },
      [Symbol.asyncDispose]: () => held.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw signal.aborted ? (signal.reason as Error) : error;
  }
}

function unusable(message: string): JobFailure {
  return new JobFailure("runtime_unavailable", message, { retryable: true });
}

/** File sizes with slack for the context and for buffers, but at least what the Cargo declares. */
async function estimate({ cargo, folder, projectorPath }: SpawnedModel): Promise<MemoryUse> {
  const bytes = (await bytesAt(folder)) + (projectorPath === null ? 0 : await bytesAt(projectorPath));
  const ramBytes = Math.max(cargo.requiredRamBytes, Math.ceil(bytes * 1.2) + 64 * MIB);
  return { ramBytes, vramBytes: cargo.requiredVramBytes };
}

/** Finds the address at which the server listens. The stack removes a socket's folder. */
async function findPlace(command: readonly string[], stack: AsyncDisposableStack): Promise<Place> {
  if (command.some((word) => word.includes("{port}"))) {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    return { socket: null, port };
  }
  // Paths of sockets have at most 107 bytes.
  const folder = await mkdtemp(join(tmpdir(), "atoll-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return { socket: join(folder, "e.sock"), port: null };
}

async function launchOf(
  { command, program, setpriv, slots, environment, sandbox }: SpawnOptions,
  { cargo, modelPath, folder, projectorPath }: SpawnedModel,
  { socket, port }: Place,
  apiKey: string,
): Promise<Launch> {
  if (program === null) throw unusable(`${command[0]} is not installed`);
  const values: Readonly<Record<string, string>> = {
    "{model}": modelPath,
    "{socket}": socket ?? "",
    "{port}": String(port),
    "{slots}": String(slots),
    "{context}": String((cargo.contextTokens ?? DEFAULT_CONTEXT_TOKENS) * slots),
  };
  const args = command.slice(1).map((word) => word.replaceAll(/\{\w+\}/g, (name) => values[name] ?? name));
  // The owner's command may name libraries and templates.
  const named = command.flatMap((word) => word.split(/[=:]/)).filter((path) => isAbsolute(path));
  const launch = sandbox.wrap({
    file: program,
    args: [...args, ...(projectorPath === null ? [] : ["--mmproj", projectorPath])],
    environment: hostEnvironment(environment, { LLAMA_API_KEY: apiKey, GGML_NO_BACKTRACE: "1" }),
    readable: [
      ...named,
      ...(await librariesBeside(program)),
      folder,
      ...(projectorPath === null ? [] : [projectorPath]),
    ],
    writable: socket === null ? [] : [dirname(socket)],
  });
  // The program does not notice the end of the agent, as our own hosts do.
  return setpriv === null
    ? launch
    : { ...launch, file: setpriv, args: ["--pdeathsig", "KILL", "--", launch.file, ...launch.args] };
}

/** Returns the libraries of a build of llama.cpp, which are in the folder of its programs. */
async function librariesBeside(program: string): Promise<string[]> {
  const folder = dirname(await realpath(program));
  const names = await readdir(folder);
  return names.filter((name) => /\.so(\.\d+)*$/.test(name)).map((name) => join(folder, name));
}

async function untilHealthy(
  server: ServerProcess,
  connection: EngineConnection,
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + limitMs;
  for (;;) {
    signal.throwIfAborted();
    if (!server.isRunning) throw server.failure();
    try {
      await connection.read(llamaServer.healthPath);
      return;
    } catch {
      if (clock.monotonicMs() >= untilMs) {
        throw unusable(`The engine did not load the model within ${limitMs / 1_000} s`);
      }
      await Promise.race([clock.sleep(POLL_MS, signal), server.ended]);
    }
  }
}

/** @throws {JobFailure} unless the server has loaded what the Cargo needs */
async function readModel({ read }: EngineConnection, { cargo, projectorPath }: SpawnedModel) {
  const [model] = await llamaServer.models(read, []);
  if (model === undefined) throw unusable("engines.command starts a server without a model");
  const { contextTokens, readsImages } = model;
  const needed = cargo.contextTokens ?? 0;
  if ((contextTokens ?? needed) < needed) {
    const facts = `The engine gives a run ${contextTokens} tokens of context, ${cargo.slug} needs ${needed}`;
    throw unusable(`${facts}: add -c {context} to engines.command`);
  }
  if (projectorPath !== null && !readsImages) throw unusable("The engine reads no images with the Cargo's projector");
  return model;
}

/** Kills a server that no longer responds. @returns a function that ends the watch */
function watchHealth(server: ServerProcess, connection: EngineConnection, clock: Clock): () => void {
  let failures = 0;
  let timer: Timer;
  const check = async (): Promise<void> => {
    const isHealthy = await connection.read(llamaServer.healthPath).then(
      () => true,
      () => false,
    );
    if (!server.isRunning) return;
    failures = isHealthy ? 0 : failures + 1;
    if (failures === MAX_UNHEALTHY) return server.kill(`it failed ${MAX_UNHEALTHY} health checks`);
    schedule();
  };
  const schedule = (): void => {
    timer = clock.schedule(HEALTH_EVERY_MS, () => void check());
  };
  schedule();
  return () => timer.cancel();
}

function engineOf(
  server: ServerProcess,
  connection: EngineConnection,
  { slots, clock, killAfterMs = 2_000 }: SpawnOptions,
): Parameters<typeof engineCargo>[0] {
  const semaphore = new Semaphore<object>(slots);
  /** Callbacks of the runs that wait for a slot. */
  const waiting = new Set<() => void>();
  let running = 0;

  const use: AttachedEngine["use"] = async (signal, onWorking, work) => {
    waiting.add(onWorking);
    await semaphore.acquire(work, signal).finally(() => waiting.delete(onWorking));
    running += 1;
    try {
      return await work(signal, () => {
        for (const each of waiting) each();
      });
    } catch (error) {
      if (signal.aborted) await untilStopped();
      else if (error instanceof EngineFailure) await Promise.race([server.ended, clock.sleep(EXIT_GRACE_MS)]);
      throw signal.aborted || server.isRunning ? error : server.failure();
    } finally {
      running -= 1;
      semaphore.release();
    }
  };

  /** Waits until the server works only on the other runs. Kills it if a cancelled run does not end. */
  async function untilStopped(): Promise<void> {
    let isLate = false;
    const late = clock.sleep(killAfterMs).then(() => {
      isLate = true;
      return false;
    });
    const isStopped = async (): Promise<boolean> => {
      const busy = (await llamaServer.running?.(connection.read)) ?? 0;
      return busy < running;
    };
    while (server.isRunning) {
      if (await Promise.race([isStopped().catch(() => false), late])) return;
      if (isLate) return server.kill(`it did not stop a cancelled run within ${killAfterMs / 1_000} s`);
      await clock.sleep(POLL_MS);
    }
  }

  return { connection, profile: llamaServer, slots, use };
}
