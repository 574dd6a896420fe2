import { systemClock } from "../../shared/clock.ts";
import { p50AndP99 } from "../harness/statistics.ts";
import { serveWorker } from "../harness/worker.ts";
import { machineMs } from "./frames.ts";
import { HttpConnection, requestBytes, type HttpResponse } from "./http-connection.ts";

/** Worker process: load generator of closed HTTP request loops, each on a separate connection. */

export interface ClientLoad {
  readonly url: string;
  readonly key: string;
  readonly method: "GET" | "POST";
  /** Prefix of the path. Default: the prefix of the API. */
  readonly base?: string;
  readonly path: string;
  /** Header fields in addition to those of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly clients: number;
  /** Interval of a client's requests. If absent, each request follows the previous response at once. */
  readonly intervalMs?: number;
  /** Pause after each response. */
  readonly pauseMs?: number;
  /** Whether to record the arrival of each token for `takeReceived`. */
  readonly isTimed?: boolean;
  /** Whether to measure the time between two tokens of a stream. */
  readonly isPaced?: boolean;
  readonly expect: Expectation;
}
export interface Expectation {
  readonly status: number;
  /** Text that the chat must stream, up to its [DONE]. */
  readonly streamedText?: string;
  /** Content of the only message of the response. */
  readonly text?: string;
}
export interface WindowMetrics {
  readonly seconds: number;
  /** Correct responses within the window. */
  readonly answered: number;
  /** Content chunks that arrived within the window. */
  readonly tokens: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly firstTokenP50Ms: number;
  readonly firstTokenP99Ms: number;
}
export interface PacedMetrics extends WindowMetrics {
  /** Time between two tokens of a stream, only for a paced load. Tokens that arrive together have a gap of 0. */
  readonly gapP50Ms: number;
  readonly gapP99Ms: number;
  readonly longestGapMs: number;
}
export interface Submitted {
  readonly id: string;
  readonly sentMs: number;
  readonly answeredMs: number;
}

const CONTENT_FIELD = '"content":"';
const MAX_ERRORS = 5;
const MAX_WINDOW_MS = 60_000;
/**
 * Time to open all connections before a load. Node.js accepts one connection per tick of its event loop, so connections opened under load
 * would wait for seconds.
 */
const CONNECT_MS = 200;

const state = {
  isOn: false,
  loops: [] as Promise<void>[],
  errors: [] as string[],
  answered: 0,
  tokens: 0,
  latenciesMs: [] as number[],
  firstTokensMs: [] as number[],
  receivedAtMs: [] as number[],
  gapsMs: [] as number[],
};

/** Returns why a response is not as expected, or null. */
function fault({ status, body }: HttpResponse, expect: Expectation): string | null {
  if (status !== expect.status) return `status ${status}: ${body.slice(0, 300)}`;
  if (expect.streamedText !== undefined) {
    const text = contentOf(body);
    if (text !== expect.streamedText) return `streamed ${JSON.stringify(text)}: ${body.slice(-300)}`;
    if (!body.endsWith("data: [DONE]\n\n")) return `no [DONE]: ${body.slice(-300)}`;
  }
  if (expect.text !== undefined) {
    const { choices } = JSON.parse(body) as { choices: { message: { content: string } }[] };
    if (choices[0]?.message.content !== expect.text) return `answered ${JSON.stringify(choices)}`;
  }
  return null;
}

/** Returns the text of a stream's chunks, which contain no escapes. A regular expression would halve the throughput of a client. */
function contentOf(body: string): string {
  let text = "";
  for (let at = body.indexOf(CONTENT_FIELD); at >= 0; at = body.indexOf(CONTENT_FIELD, at)) {
    at += CONTENT_FIELD.length;
    text += body.slice(at, body.indexOf('"', at));
  }
  return text;
}

/** Counts chunks with content. The first chunk of a chat contains the role instead. */
function countTokens(text: string): number {
  let tokens = 0;
  for (let at = text.indexOf(CONTENT_FIELD); at >= 0; at = text.indexOf(CONTENT_FIELD, at + 1)) {
    if (text[at + CONTENT_FIELD.length] !== '"') tokens += 1;
  }
  return tokens;
}

async function runClient(load: ClientLoad, connection: HttpConnection, index: number): Promise<void> {
  const bytes = requestBytes(load.url, load);
  // Clients start one after the other within the interval, or within 300 ms.
  const spreadMs = load.intervalMs ?? Math.min(300, load.clients);
  let dueMs = machineMs() + (spreadMs * index) / load.clients;
  await systemClock.sleep(dueMs - machineMs());
  while (state.isOn && state.errors.length < MAX_ERRORS) {
    const beganMs = machineMs();
    let firstTokenMs: number | null = null;
    let lastTokenMs: number | null = null;
    const onBody = (text: string): void => {
      const tokens = countTokens(text);
      state.tokens += tokens;
      if (tokens > 0) firstTokenMs ??= machineMs() - beganMs;
      if (load.isPaced === true && tokens > 0) {
        const nowMs = machineMs();
        if (lastTokenMs !== null) state.gapsMs.push(nowMs - lastTokenMs);
        for (let token = 1; token < tokens; token += 1) state.gapsMs.push(0);
        lastTokenMs = nowMs;
      }
      if (load.isTimed === true) {
        for (let token = 0; token < tokens; token += 1) state.receivedAtMs.push(machineMs());
      }
    };
    const isStream = load.expect.streamedText !== undefined;
    try {
      const response = await connection.request(bytes, isStream ? onBody : undefined);
      const wrong = fault(response, load.expect);
      if (wrong !== null) throw new Error(wrong);
      state.answered += 1;
      state.latenciesMs.push(machineMs() - beganMs);
      if (firstTokenMs !== null) state.firstTokensMs.push(firstTokenMs);
    } catch (error) {
      state.errors.push(String(error));
    }
    if (load.pauseMs !== undefined) await systemClock.sleep(load.pauseMs);
    if (load.intervalMs === undefined) continue;
    dueMs = Math.max(dueMs + load.intervalMs, machineMs());
    await systemClock.sleep(dueMs - machineMs());
  }
  connection.close();
}

function assertNoErrors(): void {
  if (state.errors.length > 0) throw new Error(`Requests failed: ${state.errors.join("\n")}`);
}

function clear(): void {
  [state.answered, state.tokens] = [0, 0];
  [state.latenciesMs, state.firstTokensMs, state.gapsMs] = [[], [], []];
}

const api = {
  /** Starts the load, which continues until `stop`. */
  async start(load: ClientLoad): Promise<void> {
    const connections = Array.from({ length: load.clients }, () => new HttpConnection(load.url));
    await Promise.all(connections.map((connection) => connection.open()));
    await systemClock.sleep(CONNECT_MS);
    state.isOn = true;
    state.loops = connections.map((connection, index) => runClient(load, connection, index));
  },
  /** Measures the load for `ms`, or longer until a response arrives. @throws if a request failed. */
  async measure({ ms }: { ms: number }): Promise<PacedMetrics> {
    clear();
    const beganMs = machineMs();
    do {
      await systemClock.sleep(ms);
      assertNoErrors();
    } while (state.answered === 0 && machineMs() - beganMs < MAX_WINDOW_MS);
    const latency = p50AndP99(state.latenciesMs);
    const first = p50AndP99(state.firstTokensMs);
    const gap = p50AndP99(state.gapsMs);
    return {
      seconds: (machineMs() - beganMs) / 1_000,
      answered: state.answered,
      tokens: state.tokens,
      p50Ms: latency.p50,
      p99Ms: latency.p99,
      firstTokenP50Ms: first.p50,
      firstTokenP99Ms: first.p99,
      gapP50Ms: gap.p50,
      gapP99Ms: gap.p99,
      longestGapMs: state.gapsMs.reduce((longest, each) => Math.max(longest, each), 0),
    };
  },
  /** Returns the arrival times of tokens since the last call, by {@link machineMs}. Only for a timed load. */
  takeReceived(): number[] {
    return state.receivedAtMs.splice(0);
  },
  /** Stops the load. Resolves when all pending requests have responses. @throws if a request failed. */
  async stop(): Promise<void> {
    state.isOn = false;
    await Promise.all(state.loops);
    assertNoErrors();
  },
  /** Sends `count` requests over all clients. @throws if a request failed. */
  async submit({ load, count }: { load: ClientLoad; count: number }): Promise<{ seconds: number; jobs: Submitted[] }> {
    const bytes = requestBytes(load.url, load);
    const jobs: Submitted[] = [];
    let left = count;
    const beganMs = machineMs();
    const one = async (): Promise<void> => {
      const connection = new HttpConnection(load.url);
      while (left > 0) {
        left -= 1;
        const sentMs = machineMs();
        const response = await connection.request(bytes);
        const answeredMs = machineMs();
        const wrong = fault(response, load.expect);
        if (wrong !== null) throw new Error(wrong);
        const id = /"id":"((?:job|batch)_[\w-]+)"/.exec(response.body)?.[1] ?? "";
        jobs.push({ id, sentMs, answeredMs });
        if (load.pauseMs !== undefined) await systemClock.sleep(load.pauseMs);
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: load.clients }, one));
    return { seconds: (machineMs() - beganMs) / 1_000, jobs };
  },
};
export type ClientsApi = typeof api;
serveWorker(api);
