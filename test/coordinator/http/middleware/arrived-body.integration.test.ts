import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, it, vi } from "vitest";
import { readJson } from "../../../../coordinator/http/middleware/body.ts";

/** The value of a request that is sent in these writes, and the events that reading its body listened to. */
async function read(writes: readonly string[]): Promise<{ value: unknown; listened: unknown[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((incoming) => requests.push(incoming)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [first = "", ...others] = writes;
  socket.write(first);
  await once(server, "request");
  // The parser has told of all that came with the head.
  await new Promise((resolve) => setImmediate(resolve));
  const [incoming] = requests as [IncomingMessage];
  const listen = vi.spyOn(incoming, "on");
  const reading = readJson(incoming);
  for (const text of others) socket.write(text);
  const value = await reading;
  const listened = listen.mock.calls.map(([event]) => event);
  socket.destroy();
  server.close();
  return { value, listened };
}

const head = (bytes: number): string => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`;

it("A body that came with the head of its request is read without a listener", async () => {
  expect(await read([`${head(7)}{"a":1}`])).toEqual({ value: { a: 1 }, listened: [] });
});

it("A body that comes later is waited for", async () => {
  const { value, listened } = await read([`${head(7)}{"a"`, ":1}"]);
  expect([value, listened]).toEqual([{ a: 1 }, expect.arrayContaining(["data", "end", "close"])]);
});
