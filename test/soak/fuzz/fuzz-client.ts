import { Agent, request as send, type IncomingMessage } from "node:http";
import type { ReceivedResponse, ResponseValidator } from "../../support/http/openapi.ts";
import { EventTexts } from "../../support/event-texts.ts";
import type { FuzzRequest } from "./document-requests.ts";

const DEADLINE_MS = 20_000;
const CHUNK_BYTES = 65_536;

/** Sends requests unchanged, even requests that `fetch` would reject, and validates the responses. */
export class FuzzClient implements Disposable {
  readonly statuses = new Map<number, number>();
  readonly problems: string[] = [];
  readonly #url: URL;
  readonly #check: ResponseValidator;
  readonly #authorization: Readonly<Record<FuzzRequest["caller"], string | undefined>>;
  /** Ids by the path that lists or creates such resources. */
  readonly #ids: Map<string, string[]>;
  readonly #agent: Agent;

  constructor(
    url: string,
    check: ResponseValidator,
    {
      keys,
      ids,
      connections,
    }: { keys: { owner: string; reader: string }; ids: Map<string, string[]>; connections: number },
  ) {
    this.#url = new URL(url);
    this.#check = check;
    this.#authorization = {
      owner: `Bearer ${keys.owner}`,
      reader: `Bearer ${keys.reader}`,
      nobody: undefined,
      stranger: "Bearer ak_nobody has this",
    };
    this.#ids = ids;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends all requests with this concurrency. Resolves after the last response. */
  async sendAll(requests: readonly FuzzRequest[], atOnce: number): Promise<void> {
    const rest = requests.values();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (const request of rest) await this.#sendOne(request);
      }),
    );
  }

  async #sendOne(request: FuzzRequest): Promise<void> {
    const path = request.path.replace(/\{(\d+):(.*?)\}/, (_, n: string, kind: string) => this.#idOf(kind, Number(n)));
    try {
      const { response, events } = await this.#exchange(request, path);
      this.statuses.set(response.status, (this.statuses.get(response.status) ?? 0) + 1);
      const problems = [...this.#check.problems(response), ...events];
      if (response.status >= 500 && response.status !== 503)
        problems.push(`status ${response.status}: ${response.body}`);
      if (problems.length > 0) this.#complain(request, path, problems.join("; "));
      if (response.status === 201) this.#keep(path, response);
    } catch (error) {
      this.#complain(request, path, String(error));
    }
  }

  #idOf(kind: string, n: number): string {
    const ids = this.#ids.get(kind);
    if (ids === undefined || ids.length === 0) return "none";
    return ids[n % ids.length] as string;
  }

  /** Keeps the id of a created resource for later requests. */
  #keep(path: string, { body }: ReceivedResponse): void {
    const { data } = JSON.parse(body ?? "null") as { data?: { id?: string; slug?: string } };
    const id = data?.slug ?? data?.id;
    if (id !== undefined) this.#ids.get(path)?.push(id);
  }

  #complain({ method, query, headers, body, caller, isChunked }: FuzzRequest, path: string, what: string): void {
    const facts = JSON.stringify({ headers, caller, isChunked, body: body?.toString().slice(0, 500) });
    this.problems.push(`${method} ${path}?${query} ${facts}\n  ${what.slice(0, 1_000)}`);
  }

  #exchange(request: FuzzRequest, path: string): Promise<{ response: ReceivedResponse; events: string[] }> {
    const { method, query, body, caller, isChunked } = request;
    const authorization = this.#authorization[caller];
    const headers: Record<string, string> = { ...request.headers, ...(authorization && { authorization }) };
    const bytes = body === undefined ? undefined : Buffer.from(body);
    if (bytes !== undefined && !isChunked) headers["content-length"] = String(bytes.length);
    if (bytes !== undefined && isChunked) headers["transfer-encoding"] = "chunked";
    const { promise, resolve, reject } = Promise.withResolvers<{ response: ReceivedResponse; events: string[] }>();
    const { hostname: host, port } = this.#url;
    const target = query === "" ? path : `${path}?${query}`;
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const outgoing = send({ host, port, method, path: target, headers, agent: this.#agent, signal });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      // A response may arrive before the body was sent, and close the connection.
      outgoing.off("error", reject).on("error", () => undefined);
      // The server sees the path without dot segments.
      const { pathname } = new URL(path, this.#url);
      readResponse(incoming, { method, path: pathname }, this.#check).then(resolve, reject);
    });
    for (let from = 0; from < (bytes?.length ?? 0); from += CHUNK_BYTES) {
      outgoing.write(bytes?.subarray(from, from + CHUNK_BYTES));
    }
    outgoing.end();
    return promise;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

/** Reads a response to its end, or only the first event of a stream, which may stay open. */
async function readResponse(
  incoming: IncomingMessage,
  { method, path }: Pick<ReceivedResponse, "method" | "path">,
  check: ResponseValidator,
): Promise<{ response: ReceivedResponse; events: string[] }> {
  const headers = new Headers();
  for (const [name, all] of Object.entries(incoming.headersDistinct)) {
    for (const value of all ?? []) headers.append(name, value);
  }
  const head = { method, path, status: incoming.statusCode ?? 0, headers };
  if (headers.get("content-type")?.startsWith("text/event-stream") !== true) {
    const chunks = (await incoming.toArray()) as Buffer[];
    return { response: { ...head, body: Buffer.concat(chunks).toString("utf8") }, events: [] };
  }
  const events: string[] = [];
  let seen = 0;
  const texts = new EventTexts((event) => {
    seen += 1;
    events.push(...check.eventProblems(head, event));
  });
  for await (const chunk of incoming) {
    texts.push(chunk as Buffer);
    if (seen > 0) break;
  }
  return { response: { ...head, body: null }, events };
}
