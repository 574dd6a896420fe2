import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import { serveWorker } from "../harness/worker.ts";
import { MAX_FRAME_BYTES, pack, scriptedText, SESSION_PATH, SUBPROTOCOL, tokenAt } from "./frames.ts";

/** Worker process: servers that do nothing, to measure the limit of the load generators. */

/** Returns the bytes of a streamed chat as a coordinator writes them. */
function cannedChat(tokens: number): Buffer {
  const head =
    'data: {"id":"job_0","object":"chat.completion.chunk","created":1,"model":"tiny-chat","choices":[{"index":0,';
  const chunk = (delta: string, reason: string): string =>
    `${head}"delta":${delta},"logprobs":null,"finish_reason":${reason}}]}\n\n`;
  const contents = Array.from({ length: tokens }, (_, index) =>
    chunk(`{"content":${JSON.stringify(tokenAt(index))}}`, "null"),
  );
  const body = [
    chunk('{"role":"assistant","content":""}', "null"),
    ...contents,
    chunk("{}", '"stop"'),
    "data: [DONE]\n\n",
  ].map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
  const fields = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked"];
  return Buffer.from(`${fields.join("\r\n")}\r\n\r\n${body.join("")}0\r\n\r\n`);
}

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

const api = {
  /** Responds to each received piece with the same chat. */
  serveChats({ tokens }: { tokens: number }): Promise<string> {
    const response = cannedChat(tokens);
    const server = createServer({ noDelay: true }, (socket) => {
      socket.on("data", () => socket.write(response));
      socket.on("error", () => undefined);
    });
    return new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${portOf(server)}`));
    });
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
        const limits = { heartbeatMs: 10_000, maxFrameBytes: MAX_FRAME_BYTES };
        socket.send(pack({ type: "welcome", sessionId: "0", held: [], ...limits }));
        for (let index = 0; index < parallel; index += 1) assign();
        socket.on("message", () => {
          received += 1;
          if (received % frames === 0) assign();
        });
      });
    });
    return new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${portOf(server)}`));
    });
  },
};
export type TrivialServerApi = typeof api;
serveWorker(api);
