import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { afterAll, describe, expect, it } from "vitest";
import { reusedThreads } from "../../../../../coordinator/store/sqlite/engine/reused-threads.ts";

const threads = reusedThreads("echo-thread", import.meta.url);
const started: Worker[] = [];
afterAll(() => Promise.all(started.map((thread) => thread.terminate())));

function take(): Worker {
  const thread = threads.take();
  started.push(thread);
  return thread;
}
async function echo(thread: Worker, text: string): Promise<unknown> {
  const replied = once(thread, "message");
  thread.postMessage(text);
  return ((await replied) as unknown[])[0];
}

describe("a returned thread", () => {
  it("works for its next user, and sends nothing more to the previous one", async () => {
    const first = take();
    const received: unknown[] = [];
    first.on("message", (message) => received.push(message));
    expect(await echo(first, "a")).toBe("a");
    threads.giveBack(first);
    const second = take();
    expect(second).toBe(first);
    expect(await echo(second, "b")).toBe("b");
    expect(received).toEqual(["a"]);
  });

  it("is not reused if it has died in the meantime", async () => {
    const thread = take();
    await echo(thread, "a");
    threads.giveBack(thread);
    await thread.terminate();
    const next = take();
    expect(next).not.toBe(thread);
    expect(await echo(next, "b")).toBe("b");
  });

  it("is terminated if two are already idle", async () => {
    const all = [take(), take(), take()];
    await Promise.all(all.map((thread) => echo(thread, "a")));
    for (const thread of all) threads.giveBack(thread);
    await expect(once(all[2] as Worker, "exit")).resolves.toBeDefined();
    expect([take(), take()]).toEqual(expect.arrayContaining(all.slice(0, 2)));
  });
});
