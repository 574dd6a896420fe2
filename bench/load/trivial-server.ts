import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { WebSocketServer } from "ws";
import { systemClock } from "../../shared/clock.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import { serveWorker } from "../harness/worker.ts";
import {
  HEARTBEAT_MS,
  machineMs,
  MAX_FRAME_BYTES,
  pack,
  scriptedText,
  SESSION_PATH,
  SUBPROTOCOL,
  tokenAt,
} from "./frames.ts";

/** Worker process: servers that do nothing, to measure the limit of the load generators. */

/** Returns the bytes of a streamed chat as a coordinator writes them, in one part for each token. */
function chatParts(tokens: number): Buffer[] {
  const head =
    'data: {"id":"job_0","object":"chat.completion.chunk","created":1,"model":"tiny-chat","choices":[{"index":0,';
  const chunk = (delta: string, reason: string): string =>
    `${head}"delta":${delta},"logprobs":null,"finish_reason":${reason}}]}\n\n`;
  const encode = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
  const fields = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked"];
  const before = `${fields.join("\r\n")}\r\n\r\n${encode(chunk('{"role":"assistant","content":""}', "null"))}`;
  const after = `${encode(chunk("{}", '"stop"'))}${encode("data: [DONE]\n\n")}0\r\n\r\n`;
  return Array.from({ length: tokens }, (_, index) => {
    const content = encode(chunk(`{"content":${JSON.stringify(tokenAt(index))}}`, "null"));
    return Buffer.from(`${index === 0 ? before : ""}${content}${index === tokens - 1 ? after : ""}`);
  });
}

/** Returns the bytes of the same chat without streaming. */
function wholeChat(tokens: number): Buffer {
  const message = { role: "assistant", content: scriptedText(tokens) };
  const body = JSON.stringify({
    id: "job_0",
    object: "chat.completion",
    created: 1,
    model: "tiny-chat",
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: { prompt_tokens: 5, completion_tokens: tokens, total_tokens: 5 + tokens },
  });
  const fields = ["HTTP/1.1 200 OK", "Content-Type: application/json", `Content-Length: ${body.length}`];
  return Buffer.from(`${fields.join("\r\n")}\r\n\r\n${body}`);
}

/** Calls `onRequest` with each complete request of a connection. Each body must have a `Content-Length`. */
function readRequests(socket: Socket, onRequest: (text: string) => void): void {
  const bodyField = /\r\ncontent-length: *(\d+)/i;
  const headEnd = "\r\n\r\n";
  let rest = "";
  socket.setEncoding("latin1");
  socket.on("error", () => undefined);
  socket.on("data", (text: unknown) => {
    rest += text as string;
    for (let end = rest.indexOf(headEnd); end >= 0; end = rest.indexOf(headEnd)) {
      const length = Number(bodyField.exec(rest.slice(0, end))?.[1] ?? 0);
      const next = end + headEnd.length + length;
      if (rest.length < next) return;
      const request = rest.slice(0, next);
      rest = rest.slice(next);
      onRequest(request);
    }
  });
}

/**
 * Writes the parts of a chat with this time before each part. Caddy cuts a stream whose first part arrives before it has
 * read the end of the request.
 */
function writePaced(socket: Socket, parts: readonly Buffer[], gapMs: number): void {
  const beganMs = machineMs();
  const writeNext = (index: number): void => {
    const part = parts[index];
    if (part === undefined) return;
    systemClock.schedule(beganMs + (index + 1) * gapMs - machineMs(), () => {
      if (socket.writable) socket.write(part);
      writeNext(index + 1);
    });
  };
  writeNext(0);
}

/** Starts a server on any port. @returns its address. */
const listen = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });

/** Chats of `serveEngine`. */
interface EngineChats {
  readonly parts: readonly Buffer[];
  readonly streamed: Buffer;
  readonly whole: Buffer;
  readonly gapMs: number;
}

const prepareChats = (tokens: number, gapMs: number): EngineChats => {
  const parts = chatParts(tokens);
  return { parts, streamed: Buffer.concat(parts), whole: wholeChat(tokens), gapMs };
};

let chats = prepareChats(1, 0);

const api = {
  /** Responds to each received piece with the same chat. */
  serveChats({ tokens }: { tokens: number }): Promise<string> {
    const response = Buffer.concat(chatParts(tokens));
    const server = createServer({ noDelay: true }, (socket) => {
      socket.on("data", () => socket.write(response));
      socket.on("error", () => undefined);
    });
    return listen(server);
  },
  /** Responds to each request with a chat, streamed if the request says so, like an engine behind a gateway. `script` sets the chat. */
  serveEngine(): Promise<string> {
    const server = createServer({ noDelay: true }, (socket) => {
      readRequests(socket, (request) => {
        if (!request.includes('"stream":true')) socket.write(chats.whole);
        else if (chats.gapMs === 0) socket.write(chats.streamed);
        else writePaced(socket, chats.parts, chats.gapMs);
      });
    });
    return listen(server);
  },
  /** Sets the chat of `serveEngine`. All tokens are sent at once if the gap is 0. */
  script({ tokens, gapMs }: { tokens: number; gapMs: number }): void {
    chats = prepareChats(tokens, gapMs);
  },
  /**
   * Assigns a job whenever one has ended, with `parallel` jobs per session. Counts frames without reading them, because
   * a job has a fixed number of frames.
   */
  serveIslands({ parallel, frames }: { parallel: number; frames: number }): Promise<string> {
    const server = createHttpServer();
    const sessions = new WebSocketServer({ server, path: SESSION_PATH, handleProtocols: () => SUBPROTOCOL });
    sessions.on("connection", (socket) => {
      let last = 0;
      const assign = (): void => {
        const cargo = { slug: "tiny-chat" } as Assign["cargo"];
        const fixed = { attempt: 1, claim: "", cargo, signature: "", runLimitMs: 300_000 };
        const input = { messages: [{ role: "user", content: scriptedText(1) }] };
        socket.send(pack({ type: "assign", jobId: `job_${(last += 1)}`, input, ...fixed }));
      };
      let received = 0;
      socket.once("message", () => {
        const limits = { heartbeatMs: HEARTBEAT_MS, maxFrameBytes: MAX_FRAME_BYTES };
        socket.send(pack({ type: "welcome", sessionId: "0", held: [], ...limits }));
        for (let index = 0; index < parallel; index += 1) assign();
        socket.on("message", () => {
          received += 1;
          if (received % frames === 0) assign();
        });
      });
    });
    return listen(server);
  },
};
export type TrivialServerApi = typeof api;
serveWorker(api);
