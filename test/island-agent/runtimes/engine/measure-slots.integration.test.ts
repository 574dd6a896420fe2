import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { connectEngine } from "../../../../island-agent/runtimes/engine/engine-connection.ts";
import { measureSlots } from "../../../../island-agent/runtimes/engine/measure-slots.ts";
import { plainModel } from "../../../../island-agent/runtimes/engine/profiles/model-lists.ts";
import { Semaphore } from "../../../../shared/async/semaphore.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { NEVER } from "../../builders.ts";

const TOKENS = 10;
const TOKEN_MS = 100;

interface Engine extends AsyncDisposable {
  readonly url: string;
  /** Time that advances with the engine's work, so that the speed of this machine does not matter. */
  readonly monotonicMs: () => number;
}

/** An engine that works on `slots` runs together, and refuses those above `most` with 429. */
async function openEngine(slots: number, most = Infinity): Promise<Engine> {
  let nowMs = 0;
  let next = Promise.withResolvers<void>();
  const stop = new AbortController();
  const work = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await systemClock.sleep(5);
      nowMs += TOKEN_MS;
      next.resolve();
      next = Promise.withResolvers();
    }
  };
  void work();
  const free = new Semaphore<object>(slots);
  let running = 0;
  const generate = async (response: ServerResponse): Promise<void> => {
    await free.acquire(response, NEVER);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let token = 1; token <= TOKENS; token += 1) {
      await next.promise;
      const finish = token === TOKENS ? "length" : null;
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: "1," }, finish_reason: finish }] })}\n\n`);
    }
    free.release();
    response.end("data: [DONE]\n\n");
  };
  const server = createServer((request, response) => {
    request.resume();
    running += 1;
    response.on("close", () => (running -= 1));
    if (running > most) response.writeHead(429).end();
    else void generate(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    monotonicMs: () => nowMs,
    async [Symbol.asyncDispose]() {
      stop.abort();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

describe("the measured number of slots", () => {
  it.each([
    [1, 1],
    [2, 2],
    [4, 4],
    [100, 8],
  ])("of an engine that batches %i runs is %i", async (slots, measured) => {
    await using engine = await openEngine(slots);
    using connection = connectEngine(engine.url, null);
    expect(await measureSlots(connection, plainModel("m"), engine, NEVER)).toBe(measured);
  });

  it("is the last number of which the engine refused none", async () => {
    await using engine = await openEngine(100, 3);
    using connection = connectEngine(engine.url, null);
    expect(await measureSlots(connection, plainModel("m"), engine, NEVER)).toBe(2);
  });

  it("is unknown if the engine does not run one", async () => {
    await using engine = await openEngine(1, 0);
    using connection = connectEngine(engine.url, null);
    await expect(measureSlots(connection, plainModel("m"), engine, NEVER)).rejects.toThrow("status 429");
  });

  it("is not measured after an abort", async () => {
    await using engine = await openEngine(1);
    using connection = connectEngine(engine.url, null);
    const abort = new AbortController();
    const reason = new Error("closed");
    const measured = measureSlots(connection, plainModel("m"), engine, abort.signal);
    await expect.poll(() => engine.monotonicMs()).toBeGreaterThan(3 * TOKENS * TOKEN_MS);
    abort.abort(reason);
    await expect(measured).rejects.toBe(reason);
  });
});
