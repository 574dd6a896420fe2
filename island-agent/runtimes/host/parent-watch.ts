import { readSync } from "node:fs";

/** Poll interval when stdin is a non-blocking pipe. */
const POLL_MS = 500;

/**
 * Runs in a worker thread of the host process and ends the process when the agent is gone, even while the main thread
 * is stuck in native code or in an endless template. The agent keeps the other end of stdin open and never writes, so a
 * read returns only when the agent has ended.
 */
function waitForEndOfInput(): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (isOpen()) Atomics.wait(never, 0, 0, POLL_MS);
}

function isOpen(): boolean {
  try {
    return readSync(0, Buffer.alloc(1)) > 0;
  } catch (error) {
    // Any error except "no data yet" means that the other end is closed.
    return error instanceof Error && "code" in error && error.code === "EAGAIN";
  }
}

waitForEndOfInput();
process.kill(process.pid, "SIGKILL");
