import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as readBody } from "node:stream/consumers";
import { systemClock } from "../../../shared/clock.ts";

const RECORDED = join(import.meta.dirname, "../../island-agent/runtimes/engine/recorded");

export type RecordedEngine = "kobold-cpp" | "llama-server" | "lm-studio" | "local-ai" | "ollama" | "sglang" | "vllm";

/** Recorded responses by method and path: JSON, text, or the events of a stream. */
interface Recording {
  readonly responses: Record<string, unknown>;
}
type Events = readonly Record<string, unknown>[];

/** Ways to misbehave. Those in the middle of a stream come after its first text. */
export type Misbehaviour =
  | "cut"
  | "drip"
  | "endless-line"
  | "garbage-json"
  | "garbage-sse"
  | "hang"
  | "hang-in-stream"
  | "html"
  | "huge"
  | "no-finish"
  | "out-of-memory"
  | "out-of-memory-in-stream"
  | "redirect"
  | "wrong-model"
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export interface ReplayedRequest {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** A server with the recorded responses of an engine, which misbehaves on purpose. */
export class EngineReplay implements AsyncDisposable {
  readonly responses: Record<string, unknown>;
  /** Requests with a body, in their order. */
  readonly posted: ReplayedRequest[] = [];
  readonly authorizations: (string | undefined)[] = [];
  /** Runs that the client has cancelled. */
  cancelled = 0;
  /** Runs whose response has ended. */
  completed = 0;
  /** Requests that got a fault. */
  hits = 0;
  /** Runs whose response has not ended. */
  running = 0;
  /** Number of connections since the start. */
  connections = 0;
  /** Returns the texts of a chat's response in place of the recorded ones. */
  answer: ((body: Record<string, unknown>) => readonly string[]) | null = null;
  /** Time between two events of a stream, in ms. */
  pauseMs = 0;
  readonly #held = new Map<string, Promise<void>>();
  #keptName: string | null = null;
  #resets = 0;
  #faults: { how: Misbehaviour; isMeant: (path: string) => boolean; left: number }[] = [];
  readonly #server = createServer((request, response) => {
    this.#respond(request, response).catch(() => response.destroy());
  });

  private constructor(engine: RecordedEngine) {
    const { responses } = JSON.parse(readFileSync(join(RECORDED, `${engine}.json`), "utf8")) as Recording;
    this.responses = responses;
    this.#server.on("connection", () => (this.connections += 1));
  }

  static async open(engine: RecordedEngine): Promise<EngineReplay> {
    const replay = new EngineReplay(engine);
    replay.#server.listen(0, "127.0.0.1");
    await once(replay.#server, "listening");
    return replay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Misbehaves for the next `times` requests to matching paths. Default: all runs, without an end. */
  misbehave(how: Misbehaviour, paths = /^\/v1\/(?!models)/, times = Infinity): void {
    this.#faults.push({ how, isMeant: (path) => paths.test(path), left: times });
  }

  behave(): void {
    this.#faults = [];
  }

  /** Delays the responses of a path. */
  hold(path: string, until: Promise<void>): void {
    this.#held.set(path, until);
  }

  /** Gives the engine's model another name and file, as after a restart. */
  rename(model: string): void {
    const text = JSON.stringify(this.responses);
    const before = (this.responses["GET /v1/models"] as { data: [{ id: string }] }).data[0].id;
    Object.assign(this.responses, JSON.parse(text.replaceAll(JSON.stringify(before), JSON.stringify(model))));
  }

  /** Names this model in responses of runs. */
  keepName(model: string): void {
    this.#keptName = model;
  }

  /** Closes all connections, as a killed process does. */
  dropConnections(): void {
    this.#server.closeAllConnections();
  }

  /** Resets the connection of the next request without a response. */
  resetNext(): void {
    this.#resets += 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "" } = request;
    if (this.#resets > 0) {
      this.#resets -= 1;
      request.socket.resetAndDestroy();
      return;
    }
    this.authorizations.push(request.headers.authorization);
    await this.#held.get(path);
    const sent = method === "POST" ? (JSON.parse(await readBody(request)) as Record<string, unknown>) : null;
    if (sent !== null) this.posted.push({ path, body: sent });
    const isRun = sent !== null && path.startsWith("/v1/");
    if (isRun) {
      this.running += 1;
      response.on("close", () => {
        this.running -= 1;
        if (response.writableFinished) this.completed += 1;
        else this.cancelled += 1;
      });
    }
    const fault = this.#faults.find(({ isMeant, left }) => left > 0 && isMeant(path));
    if (fault !== undefined) {
      fault.left -= 1;
      this.hits += 1;
    }
    const recorded = this.responses[`${method} ${path}`];
    if (recorded === undefined && fault === undefined) return void response.writeHead(404).end('{"error":"not found"}');
    const { events } = (recorded ?? {}) as { readonly events?: Events };
    if (fault !== undefined && misbehaveBefore(response, fault.how)) return;
    if (events === undefined) {
      const isText = typeof recorded === "string";
      response.writeHead(200, { "content-type": isText ? "text/plain" : "application/json" });
      response.end(isText ? recorded : JSON.stringify(recorded));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    await this.#stream(response, this.#answered(events, sent ?? {}), fault?.how ?? null);
  }

  /** Puts the texts of `answer` into the recorded events. */
  #answered(events: Events, body: Record<string, unknown>): Events {
    if (this.answer === null) return events;
    const texts = events.filter((event) => contentOf(event) !== "");
    const [like] = texts;
    if (like === undefined) return events;
    const usage = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 0 };
    const answer = this.answer(body);
    usage.completion_tokens = answer.length;
    const filled = answer.map((content) => ({
      ...like,
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    }));
    const first = events.findIndex((event) => event === like);
    const rest = events.filter((event) => !texts.includes(event)).slice(first);
    return [...filled, ...rest.map((event) => ("usage" in event && event["usage"] ? { ...event, usage } : event))];
  }

  async #stream(response: ServerResponse, events: Events, how: Misbehaviour | null): Promise<void> {
    for (const event of events) {
      if (how === "no-finish" && !/"finish_reason":(?:null|"null")/.test(JSON.stringify(event))) continue;
      const named = this.#keptName === null ? event : { ...event, model: this.#keptName };
      const shown = how === "wrong-model" ? { ...event, model: "another-model" } : named;
      const text = `data: ${JSON.stringify(shown)}\n\n`;
      if (how === "drip") await drip(response, text);
      else response.write(text);
      if (this.pauseMs > 0) await systemClock.sleep(this.pauseMs);
      if (response.destroyed) return;
      if (how !== null && contentOf(event) !== "" && misbehaveWithin(response, how)) return;
    }
    response.end("data: [DONE]\n\n");
  }
}

function contentOf(event: Record<string, unknown>): string {
  const [choice] = event["choices"] as { delta?: { content?: string | null } }[];
  return choice?.delta?.content ?? "";
}

/** Returns true if the response is misbehaved already. */
function misbehaveBefore(response: ServerResponse, how: Misbehaviour): boolean {
  const respond = (status: number, body: string, headers: Record<string, string> = {}): true => {
    response.writeHead(status, headers).end(body);
    return true;
  };
  if (typeof how === "object") return respond(how.status, how.body ?? "", how.headers);
  switch (how) {
    case "hang":
      return true;
    case "html":
      return respond(200, "<html><body>It works!</body></html>", { "content-type": "text/html" });
    case "garbage-json":
      return respond(200, '{"data":[{', { "content-type": "application/json" });
    case "garbage-sse":
      return respond(200, 'data: {"choices":\n\n', { "content-type": "text/event-stream" });
    case "out-of-memory":
      return respond(500, '{"error":"model requires more system memory (8.4 GiB) than is available (2.1 GiB)"}');
    case "redirect":
      return respond(302, "", { location: "http://127.0.0.1:9/" });
    case "huge":
      response.writeHead(200, { "content-type": "application/json" });
      flood(response, "[".repeat(65_536));
      return true;
    case "endless-line":
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: ");
      flood(response, "x".repeat(65_536));
      return true;
    default:
      return false;
  }
}

/** Returns true if the stream is not continued. */
function misbehaveWithin(response: ServerResponse, how: Misbehaviour): boolean {
  switch (how) {
    case "cut":
      response.destroy();
      return true;
    case "hang-in-stream":
      return true;
    case "out-of-memory-in-stream":
      response.end('data: {"error":{"message":"CUDA error: out of memory","type":"server_error"}}\n\n');
      return true;
    default:
      return false;
  }
}

/** Sends each byte in a packet of its own. */
async function drip(response: ServerResponse, text: string): Promise<void> {
  for (const byte of Buffer.from(text)) {
    response.write(Buffer.of(byte));
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

function flood(response: ServerResponse, piece: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", write);
  write();
}
