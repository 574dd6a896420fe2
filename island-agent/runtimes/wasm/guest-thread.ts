/** Entry of the thread that runs one job of a WebAssembly Cargo. The host process terminates it to stop the job. */
import { parentPort } from "node:worker_threads";
import type { FromGuest, GuestEnd, GuestRequest } from "./guest-messages.ts";
import { GuestOutput } from "./guest-output.ts";
import { GuestExit, importsFor } from "./wasi-imports.ts";

const port = parentPort;
if (port === null) throw new Error("This file runs only as a thread of the WebAssembly host");
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
      memory: () => memory ?? unusable("it calls WASI before it exports its memory"),
    });
    const { exports } = new WebAssembly.Instance(module, imports);
    if (!(exports["memory"] instanceof WebAssembly.Memory)) unusable("it does not export a memory");
    memory = exports["memory"];
    onMemory(memory);
    start = exports["_start"];
    if (typeof start !== "function") unusable("it does not export the function _start. Build it as a WASI command");
  } catch (error) {
    return { kind: "unusable", message: messageOf(error) };
  }
  try {
    (start as () => void)();
    return { kind: "exit", code: 0 };
  } catch (error) {
    if (error instanceof GuestExit) return { kind: "exit", code: error.code };
    // WASI functions also throw RangeErrors for bad pointers, which are the guest's fault.
    return { kind: "trap", message: messageOf(error) };
  }
}

function unusable(message: string): never {
  throw new TypeError(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
