import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, it, vi } from "vitest";
import { readJson } from "../../../../coordinator/http/middleware/body.ts";

/** Sends a request in these writes. Returns its value, and the events to which the reader of the body listened. */
async function read(writes: readonly string[]): Promise<{ value: unknown; listened: unknown[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((incoming) => requests.push(incoming)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [first = "", ...others] = writes;
  socket.write(first);
  await once(server, "request");
  // The parser has reported everything that arrived with the request's headers.
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

it("readJson() reads a body that arrived with the request's headers without a listener", async () => {
  expect(await read([`${head(7)}{"a":1}`])).toEqual({ value: { a: 1 }, listened: [] });
});

it("readJson() waits for a body that arrives later", async () => {
  const { value, listened } = await read([`${head(7)}{"a"`, ":1}"]);
  expect([value, listened]).toEqual([{ a: 1 }, expect.arrayContaining(["data", "end", "close"])]);
});
