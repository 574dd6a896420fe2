import type { Duplex } from "node:stream";
import type { Clock } from "../../../shared/clock.ts";
import type { ContainerOptions } from "./container-options.ts";
import { NANO, statusOf, type ContainerEngine } from "./engine.ts";
import type { ContainerExit } from "./exit-failure.ts";
import { OutputTail } from "../output-tail.ts";
import { StreamDemux } from "./stream-demux.ts";

/** Of what the program writes on standard error, for the job's error. */
const STDERR_TAIL_BYTES = 1_500;
/** For a program that waits, as most do, this is plenty; one that spins costs the owner no more. */
const RESTING_CPUS = 0.05;
/** For an engine that answers, and says that it could not. */
const REMOVE_TRIES = 3;
const REMOVE_RETRY_MS = 500;

/** What a container's program gives. Called in order; `onEnd` is the last and comes once. */
export interface ContainerListener {
  readonly onStdout: (bytes: Uint8Array) => void;
  /** What it wrote is kept by the container as far as anybody needs it; to be counted. */
  readonly onStderr: (bytes: Uint8Array) => void;
  /** Nothing more will come: the program's output has ended, or the engine has gone away. `exit()` tells which. */
  readonly onEnd: () => void;
}

/** Whom a container tells. */
export interface ContainerOwner {
  readonly listener: ContainerListener;
  /** It is gone, or could not be removed: then it is the next sweep's. */
  readonly onLeft: () => void;
}

/** A started container for one job, with its program waiting for input. Whoever starts it removes it. */
export class JobContainer {
  readonly name: string;
  readonly #engine: ContainerEngine;
  readonly #clock: Clock;
  readonly #socket: Duplex;
  readonly #onLeft: () => void;
  readonly #stderr = new OutputTail(STDERR_TAIL_BYTES);
  #listener: ContainerListener;
  readonly #cpus: number;
  #isResting = false;
  #hasEnded = false;

  private constructor(
    options: ContainerOptions,
    engine: ContainerEngine,
    clock: Clock,
    socket: Duplex,
    owner: ContainerOwner,
  ) {
    this.name = options.name;
    this.#cpus = (options.HostConfig.NanoCpus ?? NANO) / NANO;
    this.#engine = engine;
    this.#clock = clock;
    this.#socket = socket;
    this.#onLeft = owner.onLeft;
    this.#listener = owner.listener;
    const demux = new StreamDemux((stream, bytes) => {
      if (this.#hasEnded) return;
      if (stream === "stdout") return this.#listener.onStdout(bytes);
      this.#stderr.push(bytes);
      this.#listener.onStderr(bytes);
    });
    socket.on("data", (chunk: Buffer) => {
      try {
        demux.push(chunk);
      } catch {
        socket.destroy();
      }
    });
    // A program that ends with input unread resets the connection, which is no fault. "close" follows.
    socket.on("error", () => undefined);
    socket.on("end", () => this.#end());
    socket.on("close", () => this.#end());
  }

  /** Nothing is left behind when it throws. */
  static async start(
    engine: ContainerEngine,
    options: ContainerOptions,
    clock: Clock,
    owner: ContainerOwner,
  ): Promise<JobContainer> {
    const { name } = options;
    let socket: Duplex | undefined;
    try {
      await engine.create(options);
      // Before the start, so that not a byte is missed.
      socket = await engine.attach(name);
      const container = new JobContainer(options, engine, clock, socket, owner);
      await engine.start(name);
      return container;
    } catch (error) {
      socket?.destroy();
      await removeContainer(engine, name, clock).catch(() => undefined);
      owner.onLeft();
      throw error;
    }
  }

  get stderrTail(): string {
    return this.#stderr.text();
  }

  /** Hands the output to another from now on. */
  listen(listener: ContainerListener): void {
    this.#listener = listener;
  }

  /** Leaves it little processor time while it has no job. Never rejects: an engine that cannot change it leaves it all. */
  async rest(): Promise<void> {
    try {
      await this.#engine.setCpus(this.name, Math.min(RESTING_CPUS, this.#cpus));
      this.#isResting = true;
    } catch (error) {
      // What the engine did not answer may have been done.
      this.#isResting = statusOf(error) === null;
    }
  }

  /** Gives back what `rest` took. @throws as the engine does: it may have next to no time then. */
  async wake(): Promise<void> {
    if (this.#isResting) await this.#engine.setCpus(this.name, this.#cpus);
    this.#isResting = false;
  }

  /** The program's whole input. */
  send(text: string): void {
    this.#socket.end(text);
  }

  /** How it ended; asked for once its output has. A program that only closed its output is killed. */
  async exit(): Promise<ContainerExit> {
    await this.#engine.kill(this.name).catch(() => undefined);
    return this.#engine.exit(this.name);
  }

  /** Kills and removes it, telling its listener nothing; resolves when it is gone. @throws when the engine does not do it. */
  async remove(): Promise<void> {
    this.#hasEnded = true;
    this.#socket.destroy();
    try {
      await removeContainer(this.#engine, this.name, this.#clock);
    } finally {
      this.#onLeft();
    }
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#listener.onEnd();
  }
}

async function removeContainer(engine: ContainerEngine, name: string, clock: Clock): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await engine.remove(name);
    } catch (error) {
      if (tries === REMOVE_TRIES || statusOf(error) === null) throw error;
      await clock.sleep(REMOVE_RETRY_MS * tries);
    }
  }
}
