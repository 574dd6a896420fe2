import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import type { Assign } from "../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../shared/protocol/from-island.ts";
import { HEARTBEAT_MS, MAX_FRAME_BYTES, pack, SESSION_PATH, SUBPROTOCOL, unpackFromIsland } from "./load/frames.ts";
import { serveWorker } from "./harness/worker.ts";

/**
 * Minimal coordinator: the same frames, HTTP and SSE, on the same `ws` and `node:http`, but without accounts, storage,
 * limits, checks, fairness and retries. The difference between it and the real coordinator is the cost of these
 * features.
 */

interface BareJob {
  readonly id: string;
  readonly input: Record<string, unknown>;
  /** Response that streams the job; null if no client reads the job. */
  readonly stream: ServerResponse | null;
  /** Response that gets the whole text at the end of the job; null if no client waits for it. */
  readonly answer: ServerResponse | null;
  text: string;
  readonly head: string;
}
interface BareIsland {
  readonly socket: WebSocket;
  freeSlots: number;
}

const MANIFEST = { slug: "tiny-chat" } as Assign["cargo"];
const waiting: BareJob[] = [];
const running = new Map<string, BareJob>();
/** The Islands that have a free slot. */
const ready = new Set<BareIsland>();

function dispatch(): void {
  let taken = 0;
  for (const island of ready) {
    if (taken === waiting.length) break;
    while (island.freeSlots > 0 && taken < waiting.length) {
      const job = waiting[taken++] as BareJob;
      island.freeSlots -= 1;
      running.set(job.id, job);
      const { id: jobId, input } = job;
      const fixed = { attempt: 1, claim: "bare", cargo: MANIFEST, signature: "bare", runLimitMs: 300_000 };
      island.socket.send(pack({ type: "assign", jobId, input, ...fixed }));
    }
    if (island.freeSlots === 0) ready.delete(island);
  }
  waiting.splice(0, taken);
}

function readFrame(island: BareIsland | null, socket: WebSocket, frame: FromIsland): BareIsland | null {
  if (frame.type === "hello") {
    const limits = { heartbeatMs: HEARTBEAT_MS, maxFrameBytes: MAX_FRAME_BYTES };
    socket.send(pack({ type: "welcome", sessionId: randomUUID(), held: [], ...limits }));
    const joined = { socket, freeSlots: frame.slots };
    ready.add(joined);
    dispatch();
    return joined;
  }
  if (frame.type === "output") {
    const job = running.get(frame.jobId);
    for (const item of frame.items) {
      if (item.type !== "token" || job === undefined) continue;
      if (job.answer === null) job.stream?.write(chunk(job, `{"content":${JSON.stringify(item.content)}}`, "null"));
      else job.text += item.content;
    }
  } else if (frame.type === "finished" && island !== null) {
    const job = running.get(frame.jobId);
    running.delete(frame.jobId);
    const { jobId, attempt, seq } = frame;
    socket.send(pack({ type: "ack", jobId, attempt, seq }));
    job?.stream?.end(`${chunk(job, "{}", '"stop"')}data: [DONE]\n\n`);
    job?.answer?.end(completion(job));
    island.freeSlots += 1;
    ready.add(island);
    dispatch();
  }
  return island;
}

const chunk = ({ head }: BareJob, delta: string, finishReason: string): string =>
  `${head},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finishReason}}]}\n\n`;

const completion = ({ id, text }: BareJob): string =>
  JSON.stringify({
    id,
    object: "chat.completion",
    created: 1,
    model: "tiny-chat",
    choices: [{ index: 0, message: { role: "assistant", content: text }, logprobs: null, finish_reason: "stop" }],
  });

function respond(request: IncomingMessage, body: string, response: ServerResponse): void {
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "application/json" }).end('{"data":{}}');
    return;
  }
  const id = `job_${randomUUID()}`;
  const input = JSON.parse(body) as Record<string, unknown>;
  const head = `data: {"id":"${id}","object":"chat.completion.chunk","created":1,"model":"tiny-chat"`;
  const isChat = request.url === "/api/v1/chat/completions";
  const isStreamed = isChat && input["stream"] === true;
  const isAnswered = isChat && !isStreamed;
  const job = { id, input, head, stream: isStreamed ? response : null, answer: isAnswered ? response : null, text: "" };
  if (isAnswered) {
    response.writeHead(200, { "content-type": "application/json" });
  } else if (isStreamed) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.write(chunk(job, '{"role":"assistant","content":""}', "null"));
  } else {
    const text = JSON.stringify({ data: { id, status: "submitted" } });
    response.writeHead(201, { "content-type": "application/json", "content-length": text.length }).end(text);
  }
  waiting.push(job);
  dispatch();
}

const api = {
  /** Starts the server. @returns its address. */
  listen(): Promise<string> {
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (text: string) => (body += text));
      request.on("end", () => respond(request, body, response));
    });
    const sessions = new WebSocketServer({ server, path: SESSION_PATH, handleProtocols: () => SUBPROTOCOL });
    sessions.on("connection", (socket) => {
      let island: BareIsland | null = null;
      socket.on("message", (data) => {
        island = readFrame(island, socket, unpackFromIsland(data as Buffer));
      });
    });
    return new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    });
  },
};
export type BareLoopApi = typeof api;
serveWorker(api);
