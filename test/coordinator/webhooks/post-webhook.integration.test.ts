import { createServer, type AddressInfo, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { postWebhook } from "../../../coordinator/webhooks/post-webhook.ts";

let server: Server;

afterEach(() => new Promise((resolve) => server.close(resolve)));

/** Sends the same text on every connection, and optionally closes it. */
async function answering(text: string, closes: boolean): Promise<string> {
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => (closes ? socket.end(text) : socket.write(text)));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const post = (url: string): Promise<number> =>
  postWebhook({
    url,
    headers: {},
    body: "{}",
    signal: AbortSignal.timeout(20_000),
    allowPrivate: true,
    resolveHost: async () => [{ address: "127.0.0.1", family: 4 }],
  });

describe("postWebhook()", () => {
  it("resolves with 101 if the receiver upgrades the protocol", async () => {
    const url = await answering("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", false);
    expect(await post(url)).toBe(101);
  });

  it("rejects if the receiver closes without a response", async () => {
    await expect(post(await answering("", true))).rejects.toThrow(/hang up|closed/);
  });

  it("resolves with the status of a response whose body is cut off", async () => {
    expect(await post(await answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", true))).toBe(200);
  });
});
