import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { systemClock } from "../../shared/clock.ts";

/** Functions of a worker process. Arguments and results are transferred as JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- each worker names its own
export type WorkerApi = Record<string, (argument: any) => unknown>;

interface Call {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}
type Reply = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: string };

const STOP_MS = 5_000;

/** Serves calls in a worker process until the parent ends. */
export function serveWorker(api: WorkerApi): void {
  process.on("message", ({ id, name, argument }: Call) => {
    const work = async (): Promise<unknown> => api[name]?.(argument);
    work().then(
      (result) => process.send?.({ id, result }),
      (error: unknown) => process.send?.({ id, error: error instanceof Error ? (error.stack ?? "") : String(error) }),
    );
  });
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  // An error outside a call must be reported, and must not end the process with pending calls.
  process.send?.({ id: 0, result: null });
}

/** A load generator or a server in a separate process. */
export class Worker<Api extends WorkerApi> implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (reason: Error) => void }>();
  #lastId = 0;

  private constructor(file: string, execArgv: readonly string[]) {
    this.process = fork(file, { execArgv: [...execArgv], serialization: "advanced" });
    this.process.on("message", (reply: Reply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if ("error" in reply) waiting?.reject(new Error(reply.error));
      else waiting?.resolve(reply.result);
    });
    this.process.once("exit", (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} ended with ${code ?? signal}`));
      this.#waiting.clear();
    });
  }

  static async start<Api extends WorkerApi>(file: string, execArgv: readonly string[] = []): Promise<Worker<Api>> {
    const worker = new Worker<Api>(file, execArgv);
    await worker.#replyTo(0);
    return worker;
  }

  get pid(): number {
    if (this.process.pid === undefined) throw new Error("The worker did not start");
    return this.process.pid;
  }

  async call<Name extends keyof Api & string>(
    name: Name,
    argument: Parameters<Api[Name]>[0],
  ): Promise<Awaited<ReturnType<Api[Name]>>> {
    const id = (this.#lastId += 1);
    const reply = this.#replyTo(id);
    this.process.send({ id, name, argument } satisfies Call);
    return (await reply) as Awaited<ReturnType<Api[Name]>>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.disconnect();
    const late = systemClock.schedule(STOP_MS, () => this.process.kill("SIGKILL"));
    await ended;
    late.cancel();
  }

  #replyTo(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}
