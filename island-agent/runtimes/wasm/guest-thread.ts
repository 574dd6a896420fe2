/** Entry of the thread in which one job of a WebAssembly Cargo runs; the host process ends it when the job is to stop. */
import { parentPort } from "node:worker_threads";
import type { FromGuest, GuestEnd, GuestOrder } from "./guest-messages.ts";
import { GuestExit, importsFor } from "./wasi-imports.ts";

const port = parentPort;
if (port === null) throw new Error("This file is run as a thread of the WebAssembly host");
const send = (message: FromGuest, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);

/** More than a job's output may be: what is beyond would only wait in memory until the host has read so far. */
const MOST_WRITTEN_BYTES = 80_000_000;
let writtenBytes = 0;

function write(fd: 1 | 2, bytes: Uint8Array<ArrayBuffer>): void {
  writtenBytes += bytes.length;
  if (writtenBytes > MOST_WRITTEN_BYTES) throw new RangeError(`it wrote over ${MOST_WRITTEN_BYTES} bytes`);
  send({ kind: "wrote", fd, bytes }, [bytes.buffer]);
}

port.once("message", (order: GuestOrder) => {
  let memory: WebAssembly.Memory | undefined;
  const end = run(order, (made) => (memory = made));
  send({ kind: "ended", end, memoryBytes: memory?.buffer.byteLength ?? 0 });
});

function run({ module, args, stdin }: GuestOrder, onMemory: (memory: WebAssembly.Memory) => void): GuestEnd {
  let start: unknown;
  let memory: WebAssembly.Memory | undefined;
  try {
    const imports = importsFor(module, {
      args,
      stdin,
      write,
      memory: () => memory ?? unusable("it calls WASI before it has exported its memory"),
    });
    const { exports } = new WebAssembly.Instance(module, imports);
    if (!(exports["memory"] instanceof WebAssembly.Memory)) unusable("it exports no memory");
    memory = exports["memory"];
    onMemory(memory);
    start = exports["_start"];
    if (typeof start !== "function") unusable("it exports no function _start: is it a WASI command?");
  } catch (error) {
    return { kind: "unusable", message: messageOf(error) };
  }
  try {
    (start as () => void)();
    return { kind: "exit", code: 0 };
  } catch (error) {
    if (error instanceof GuestExit) return { kind: "exit", code: error.code };
    // Native functions that were given bad pointers throw RangeErrors: the guest's fault as well.
    return { kind: "trap", message: messageOf(error) };
  }
}

function unusable(message: string): never {
  throw new TypeError(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
