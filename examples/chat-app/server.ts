/**
 * A chat for the browser: serves one page and streams answers to it. The API key stays on the server.
 *
 *     node examples/chat-app/server.ts [--model tiny-chat] [--port 3000]
 *
 * Listens on this machine only, and has no user accounts. Add your own sign-in before you share it.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Atoll, AtollError, type ChatRequest } from "@atoll/client";

const MAX_BODY_BYTES = 256_000;
const PAGE = readFileSync(join(import.meta.dirname, "page.html"));
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'";

const { values } = parseArgs({
  options: { model: { type: "string", default: "tiny-chat" }, port: { type: "string", default: "3000" } },
});
const atoll = new Atoll();
const server = createServer((request, response) => {
  void serve(request, response).catch((error: unknown) => {
    // Also runs if the page was closed, where it has no effect.
    if (!response.headersSent) response.writeHead(502);
    response.end(error instanceof AtollError ? `${error.code}: ${error.message}` : "The answer failed");
  });
});
server.listen(Number(values.port), "127.0.0.1");
await once(server, "listening");
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET" && request.url === "/") {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": POLICY });
    response.end(PAGE);
  } else if (request.method !== "POST" || request.url !== "/chat") {
    response.writeHead(404).end();
  } else if (!isOwnPage(request)) {
    response.writeHead(403).end();
  } else {
    await answer(await messagesOf(request), response);
  }
}

/** Returns whether the request comes from this page. Pages of other sites must not spend the key's credits. */
function isOwnPage({ headers }: IncomingMessage): boolean {
  const { port } = server.address() as AddressInfo;
  return headers.origin === `http://127.0.0.1:${port}` && headers["content-type"] === "application/json";
}

async function messagesOf(request: IncomingMessage): Promise<ChatRequest["messages"]> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk as string;
    if (body.length > MAX_BODY_BYTES) throw new AtollError("The chat is too long", { code: "payload_too_large" });
  }
  // The coordinator validates the messages.
  return JSON.parse(body) as ChatRequest["messages"];
}

/** Streams the answer as plain text. Closing the page also ends the work on the Island. */
async function answer(messages: ChatRequest["messages"], response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  response.on("close", () => closed.abort());
  const chat = { model: values.model, messages, temperature: 0 };
  for await (const piece of atoll.chat.text(chat, { signal: closed.signal })) {
    if (!response.headersSent) response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" });
    if (!response.write(piece)) await once(response, "drain", { signal: closed.signal });
  }
  response.end();
}
