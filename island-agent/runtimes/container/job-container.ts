import type { Duplex } from "node:stream";
import type { Clock } from "../../../shared/clock.ts";
import type { ContainerOptions } from "./container-options.ts";
import { NANO, statusOf, type ContainerEngine } from "./engine.ts";
import type { ContainerExit } from "./exit-failure.ts";
import { OutputTail } from "../output-tail.ts";
import { StreamDemux } from "./stream-demux.ts";

/** Bytes kept from the end of standard error, for the job's error message. */
const STDERR_TAIL_BYTES = 1_500;
/** CPU limit of a waiting container, in processors. It is enough for a program that waits, and limits one that spins. */
const RESTING_CPUS = 0.05;
const MAX_REMOVE_ATTEMPTS = 3;
const REMOVE_RETRY_MS = 500;

/** Receives a container's output, in order. `onEnd` is called last and once. */
export interface ContainerListener {
  readonly onStdout: (bytes: Uint8Array) => void;
  /** Receives standard error only to count it. The container keeps its end. */
  readonly onStderr: (bytes: Uint8Array) => void;
  /** Called when the program's output has ended, or the engine is gone; `exit()` distinguishes them. */
  readonly onEnd: () => void;
}

interface ContainerOwner {
  readonly listener: ContainerListener;
  /** Called when the container was removed, or could not be removed and is left to the next sweep. */
  readonly onLeft: () => void;
}

/** A started container for one job, whose program waits for input. The caller of `start` must call `remove`. */
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
    // A program that ends with unread input resets the connection. That is not an error; "close" follows.
    socket.on("error", () => undefined);
    socket.on("end", () => this.#end());
    socket.on("close", () => this.#end());
  }

  /** Starts a container. Removes it if this throws. */
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
      // Before the start, so that no output is missed.
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

  listen(listener: ContainerListener): void {
    this.#listener = listener;
  }

  /** Lowers the CPU limit of an idle container. Never rejects: without support by the engine, the limit stays. */
  async rest(): Promise<void> {
    try {
      await this.#engine.setCpus(this.name, Math.min(RESTING_CPUS, this.#cpus));
      this.#isResting = true;
    } catch (error) {
      // The engine may have applied the limit even if it did not respond.
      this.#isResting = statusOf(error) === null;
    }
  }

  /** Restores the CPU limit that `rest` lowered. @throws the engine's error; the limit may then still be low. */
  async wake(): Promise<void> {
    if (this.#isResting) await this.#engine.setCpus(this.name, this.#cpus);
    this.#isResting = false;
  }

  /** Writes the program's input and ends it. A failure of the program or the engine shows at the end of the output. */
  writeInput(text: string): void {
    this.#socket.end(text);
  }

  /** Returns the exit. Call it after the output's end. It kills a program that has only closed its output. */
  async exit(): Promise<ContainerExit> {
    await this.#engine.kill(this.name).catch(() => undefined);
    return this.#engine.exit(this.name);
  }

  /** Removes the container without calling the listener; resolves when removed. @throws the engine's error. */
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
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await engine.remove(name);
    } catch (error) {
      if (attempt === MAX_REMOVE_ATTEMPTS || statusOf(error) === null) throw error;
      await clock.sleep(REMOVE_RETRY_MS * attempt);
    }
  }
}
