import { readSync } from "node:fs";

/** How often a pipe that does not block is asked whether it was closed. */
const POLL_MS = 500;

/**
 * A worker thread of the host process that ends it when the agent is gone, even while the main thread is stuck in native code or in
 * a template that never ends. The agent holds the other end of stdin and never writes: a read gives nothing once it is closed.
 */
function waitForEndOfInput(): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (isOpen()) Atomics.wait(never, 0, 0, POLL_MS);
}

function isOpen(): boolean {
  try {
    return readSync(0, Buffer.alloc(1)) > 0;
  } catch (error) {
    // Anything but "no data yet" is a pipe whose other end is gone.
    return error instanceof Error && "code" in error && error.code === "EAGAIN";
  }
}

waitForEndOfInput();
process.kill(process.pid, "SIGKILL");
