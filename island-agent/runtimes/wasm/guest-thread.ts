/** Entry of the thread in which one job of a WebAssembly Cargo runs; the host process ends it when the job is to stop. */
import { parentPort } from "node:worker_threads";
import type { FromGuest, GuestEnd, GuestRequest } from "./guest-messages.ts";
import { GuestOutput } from "./guest-output.ts";
import { GuestExit, importsFor } from "./wasi-imports.ts";

const port = parentPort;
if (port === null) throw new Error("This file is run as a thread of the WebAssembly host");
const send = (message: FromGuest, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);

port.once("message", (request: GuestRequest) => {
  const output = new GuestOutput(send, request.inFlight);
  let memory: WebAssembly.Memory | undefined;
  let firstBytes = 0;
  const end = run(request, output, (made) => {
    memory = made;
    firstBytes = made.buffer.byteLength;
  });
  output.flush(1);
  output.flush(2);
  send({ kind: "ended", end, memory: { firstBytes, lastBytes: memory?.buffer.byteLength ?? 0 } });
});

function run(
  { module, args, stdin }: GuestRequest,
  output: GuestOutput,
  onMemory: (memory: WebAssembly.Memory) => void,
): GuestEnd {
  let start: unknown;
  let memory: WebAssembly.Memory | undefined;
  try {
    const imports = importsFor(module, {
      args,
      stdin,
      write: (fd, bytes) => output.write(fd, bytes),
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
