import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { HttpConnection, requestBytes } from "../../bench/load/http-connection.ts";

let server: Server;

/** Starts a server that responds to each request with these pieces, one after the other. Returns its address. */
async function serve(...pieces: string[]): Promise<string> {
  const respond = async (socket: Socket): Promise<void> => {
    for (const piece of pieces) {
      await new Promise((resolve) => socket.write(piece, resolve));
      await new Promise(setImmediate);
    }
  };
  server = createServer({ noDelay: true }, (socket) => socket.on("data", () => void respond(socket)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  server.close();
});

const ask = async (url: string): Promise<[number, string, string[]]> => {
  const connection = new HttpConnection(url);
  const seen: string[] = [];
  const bytes = requestBytes(url, { method: "POST", path: "/jobs", key: "k", body: { a: 1 } });
  await connection.request(bytes);
  // The second request shows whether bytes of the first response were left unread.
  const { status, body } = await connection.request(bytes, (text) => seen.push(text));
  connection.close();
  return [status, body, seen];
};

it("HttpConnection reads a body of a known length that arrives in pieces", async () => {
  const url = await serve("HTTP/1.1 201 Created\r\nContent-", 'Length: 8\r\n\r\n{"a"', ": 1}");
  const [status, body, seen] = await ask(url);
  expect([status, body, seen.join("")]).toEqual([201, '{"a": 1}', '{"a": 1}']);
});

it("HttpConnection reads chunks that are split anywhere", async () => {
  const whole = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nb\r\n, 12 bytes!\r\n0\r\n\r\n";
  const url = await serve(...whole.match(/[^]{1,7}/g)!);
  const [status, body, seen] = await ask(url);
  expect([status, body, seen.join("")]).toEqual([200, "hello, 12 bytes!", "hello, 12 bytes!"]);
});
