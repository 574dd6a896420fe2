import { readSse } from "./read-sse.ts";

/** Calls the API. Returns the status, the parsed body and the headers. */
export async function call(
  url: string,
  key: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- untyped JSON of the API
): Promise<{ status: number; body: any; headers: Headers }> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text), headers: response.headers };
}

export interface SseEvent {
  readonly id: string;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- untyped JSON of the API
  readonly data: any;
}

/** Yields the events of a job's stream until the server closes it. */
export async function* jobEvents(
  url: string,
  key: string,
  jobId: string,
  options: { lastEventId?: string; signal?: AbortSignal } = {},
): AsyncGenerator<SseEvent> {
  const response = await fetch(`${url}/api/v1/jobs/${jobId}/stream`, {
    headers: {
      authorization: `Bearer ${key}`,
      ...(options.lastEventId === undefined ? {} : { "last-event-id": options.lastEventId }),
    },
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (response.status !== 200) throw new Error(`The stream responded ${response.status}: ${await response.text()}`);
  for await (const { id, event, data } of readSse(response)) yield { id, event, data: JSON.parse(data) };
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}

/** Returns the text of the token events. */
export function textOf(events: readonly SseEvent[]): string {
  return events.map(({ event, data }) => (event === "token" ? (data.content as string) : "")).join("");
}

/** Polls until `isDone`, for states without an event to wait for. */
export async function until<T>(read: () => Promise<T>, isDone: (value: T) => boolean, what: string): Promise<T> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const value = await read();
    if (isDone(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`Timed out: ${what}`);
}
