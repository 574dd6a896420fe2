import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below those that systems give to connections and to `listen(0)` (Linux: from 32768), which take a port while nobody listens there. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A port that a restarted coordinator can have again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    // oxlint-disable-next-line no-await-in-loop -- the next one only if this one is taken
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .on("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
