import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serveWithoutUpgrade } from "../../../../coordinator/http/server/node-listener.ts";
import { readToEnd } from "../api.ts";

const OFFER = ["Host: x", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"].join(
  "\r\n",
);

/** A server that passes every offered upgrade to its listener, as Node before 24.9 does. */
let server: Server;
let client: Socket;
beforeEach(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      response.end(`<${request.method} ${request.url} ${body} ${request.headers.upgrade ?? "plain"}>`);
    });
  });
  server.on("upgrade", (request, socket, head) => serveWithoutUpgrade(server, request, socket, head));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
});
afterEach(async () => {
  client.destroy();
  server.close();
  await once(server, "close");
});

describe("serveWithoutUpgrade()", () => {
  it("serves consecutive requests of a connection, with bodies sent at once, in parts and in chunks", async () => {
    client.write(`POST /whole HTTP/1.1\r\n${OFFER}\r\nContent-Length: 3\r\n\r\nall`);
    expect(String(await once(client, "data"))).toContain("<POST /whole all plain>");
    client.write(`POST /chunks HTTP/1.1\r\n${OFFER}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n`);
    client.write("3\r\ntwo\r\n0\r\n\r\n");
    expect(String(await once(client, "data"))).toContain("<POST /chunks onetwo plain>");
    client.write(`POST /parts HTTP/1.1\r\n${OFFER}\r\nConnection: close\r\nContent-Length: 200003\r\n\r\nthe`);
    client.write("x".repeat(200_000));
    expect(await readToEnd(client)).toContain(`<POST /parts the${"x".repeat(200_000)} plain>`);
  });
});
