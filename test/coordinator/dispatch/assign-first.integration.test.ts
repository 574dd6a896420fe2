import { Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

type Write = (this: Socket, data: unknown, ...rest: unknown[]) => void;

afterEach(() => vi.restoreAllMocks());

/** Records what the sockets of this process write from now on, in order. */
function watchWrites(): string[] {
  const order: string[] = [];
  const note = (bytes: Buffer | string): void => {
    const text = bytes.toString("latin1");
    if (text.startsWith("HTTP/1.1 201")) order.push("answer");
    if (text.includes("assign")) order.push("assign");
  };
  const prototype = Socket.prototype as unknown as { _write: Write; _writev: Write };
  const { _write: write, _writev: writev } = prototype;
  vi.spyOn(prototype, "_write").mockImplementation(function (this: Socket, data, ...rest) {
    note(data as Buffer);
    return write.call(this, data, ...rest);
  });
  vi.spyOn(prototype, "_writev").mockImplementation(function (this: Socket, data, ...rest) {
    for (const { chunk } of data as { chunk: Buffer | string }[]) note(chunk);
    return writev.call(this, data, ...rest);
  });
  return order;
}

it("assign is sent to the Island before the client gets its response, although frames to the Island are batched", async () => {
  await using coordinator = await TestCoordinator.open();
  const { key, islandToken } = await coordinator.createAccount("client@example.com");
  await using island = await FakeIsland.join(coordinator.url, islandToken);
  const order = watchWrites();
  const job = { workload: "tiny-chat", input: { prompt: "Hi" } };
  expect((await call(coordinator.url, key, "POST", "/jobs", job)).status).toBe(201);
  await island.next("assign");
  // The write of the assignment to the database comes before both writes.
  expect(order.slice(-2)).toEqual(["assign", "answer"]);
});
