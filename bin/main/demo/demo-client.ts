/** A client of the coordinator that the demo starts. */
export interface DemoClient {
  readonly url: string;
  readonly key: string;
}

const MAX_RESPONSE_WAIT_MS = 60_000;

/** Returns the `data` of a successful response. @throws for any other response. */
export async function call<T>(client: DemoClient, method: string, path: string, body?: unknown): Promise<T> {
  const response = await request(client, method, path, body);
  return ((await response.json()) as { data: T }).data;
}

/** Returns a successful response. @throws for any other response. */
export async function request(
  { url, key }: DemoClient,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(MAX_RESPONSE_WAIT_MS),
  });
  if (!response.ok)
    throw new Error(`${method} ${path} failed with status ${response.status}: ${await response.text()}`);
  return response;
}

/** Yields the events of a Server-Sent Events response. Source: WHATWG HTML, section 9.2. */
export async function* readEvents(response: Response): AsyncGenerator<{ event: string; data: string }> {
  let rest = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1] ?? "";
      if (field("data") !== "") yield { event: field("event"), data: field("data") };
    }
  }
}
