import { randomBytes, timingSafeEqual } from "node:crypto";
import { rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { writeFileDurably } from "../disk/durable-file.ts";

/** Local port and secret of a running agent, in a file that only the owner can read. */
export const controlAddressSchema = z.object({
  port: z.number().int().min(1).max(65_535),
  secret: z.string().regex(/^[0-9a-f]{64}$/),
  pid: z.number().int(),
});
export type ControlAddress = z.infer<typeof controlAddressSchema>;

export function controlFile(dataDirectory: string): string {
  return join(dataDirectory, "control.json");
}

/** A response that is sent as plain text. */
export class PlainText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Handlers by method and path, such as "GET /status". `body` is parsed JSON, undefined without one; the result is sent
 * as JSON, or as text.
 */
export type ControlRoutes = Readonly<Record<string, (body: unknown) => unknown>>;

/** Response header with the agent's process id, to detect another program that uses its port. */
export const AGENT_HEADER = "atoll-island";

const MAX_BODY_BYTES = 65_536;

/** Serves `routes` on the loopback address, to callers that know the secret. */
export async function openControlServer(
  dataDirectory: string,
  pid: number,
  routes: ControlRoutes,
): Promise<AsyncDisposable> {
  const secret = randomBytes(32).toString("hex");
  const server = createServer((request, response) => {
    response.setHeader(AGENT_HEADER, pid);
    void respond(request, response, secret, routes);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address: ControlAddress = { port: (server.address() as AddressInfo).port, secret, pid };
  const file = controlFile(dataDirectory);
  try {
    await writeFileDurably(file, JSON.stringify(address));
  } catch (error) {
    server.close();
    throw error;
  }

  return {
    async [Symbol.asyncDispose](): Promise<void> {
      await rm(file, { force: true });
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  secret: string,
  routes: ControlRoutes,
): Promise<void> {
  const respond = (status: number, body: unknown): void => {
    if (body instanceof PlainText)
      return void response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(body.text);
    return void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body ?? null));
  };
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${secret}`);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
    return respond(401, { error: "unauthenticated" });
  const name = `${request.method} ${request.url}`;
  const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
  if (route === undefined) return respond(404, { error: "not_found" });
  try {
    respond(200, await route(await readBody(request)));
  } catch (error) {
    respond(422, { error: error instanceof Error ? error.message : String(error) });
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request as AsyncIterable<string>) {
    text += chunk;
    if (text.length > MAX_BODY_BYTES) throw new Error(`The body is longer than ${MAX_BODY_BYTES} bytes`);
  }
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}
