import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Lowest port. It is below the range for connections and `listen(0)` (Linux: from 32768), which could take the port
 * during a restart.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Returns a free port that a restarted coordinator can use again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    // oxlint-disable-next-line no-await-in-loop -- the next one only if this one is taken
    if (await isFree(port)) return port;
  }
}

/** Returns the first free port of a list. @throws if all are taken. */
export async function firstFreePort(ports: readonly number[]): Promise<number> {
  for (const port of ports) {
    // oxlint-disable-next-line no-await-in-loop -- the next one only if this one is taken
    if (await isFree(port)) return port;
  }
  throw new Error(`All ports are taken: ${ports.join(", ")}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .on("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
