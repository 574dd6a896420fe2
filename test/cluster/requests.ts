import { call, collect, jobEvents, until, type SseEvent } from "../support/http/http.ts";
import { readSse } from "../support/http/read-sse.ts";
import { wordsPrompt } from "./word-runtime.ts";

const ENDED = ["completed", "failed", "cancelled", "timeout"];
const RETRY_MS = 50;
/** Longer than the heartbeat of streams (2 s). */
const MAX_SILENCE_MS = 8_000;

/** Submits a job that outputs this number of words, and returns its id. */
export async function submitWords(
  url: string,
  key: string,
  words: number,
  everyMs: number,
  headers: Record<string, string> = {},
): Promise<string> {
  const body = { workload: "tiny-chat", input: { prompt: wordsPrompt(words, everyMs) } };
  const response = await call(url, key, "POST", "/jobs", body, headers);
  if (response.status !== 201) throw new Error(`A submission got ${response.status} ${JSON.stringify(response.body)}`);
  return response.body.data.id as string;
}

// oxlint-disable-next-line typescript/no-explicit-any -- untyped JSON of the API
export async function jobAt(url: string, key: string, jobId: string): Promise<any> {
  return (await call(url, key, "GET", `/jobs/${jobId}`)).body.data;
}

/** Returns the job when it has ended. `url` is called for each request. */
// oxlint-disable-next-line typescript/no-explicit-any -- untyped JSON of the API
export function ended(url: () => string, key: string, jobId: string): Promise<any> {
  const read = (): Promise<{ status?: string } | null> => jobAt(url(), key, jobId).catch(() => null);
  return until(read, (job) => ENDED.includes(job?.status ?? ""), `${jobId} has ended`);
}

export function running(url: string, key: string, jobId: string): Promise<unknown> {
  return until(
    () => jobAt(url, key, jobId),
    ({ status }) => status === "running",
    `${jobId} runs`,
  );
}

export const eventsAt = (url: string, key: string, jobId: string): Promise<SseEvent[]> =>
  collect(jobEvents(url, key, jobId));

interface Followed {
  readonly text: string;
  /** Types of the events that end a stream. */
  readonly endings: readonly string[];
  /** Number of connections for the stream. */
  readonly connections: number;
  /** Number of connections at which the position was lost. */
  readonly positionsLost: number;
}

/** Reads a stream to its end. Each connection goes to the next coordinator and resumes after the last event. */
export async function followAnywhere(nextUrl: () => string, key: string, jobId: string): Promise<Followed> {
  let text = "";
  let lastEventId: string | undefined;
  const endings: string[] = [];
  let connections = 0;
  let positionsLost = 0;
  while (endings.length === 0) {
    connections += 1;
    try {
      const response = await fetch(`${nextUrl()}/api/v1/jobs/${jobId}/stream`, {
        headers: {
          authorization: `Bearer ${key}`,
          ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
        },
      });
      if (response.status === 422) {
        positionsLost += 1;
        text = "";
        lastEventId = undefined;
      }
      if (response.status !== 200) throw new Error(`The stream has status ${response.status}`);
      for await (const { id, event, data } of readSse(response, MAX_SILENCE_MS)) {
        lastEventId = id;
        if (event === "token") text += JSON.parse(data).content;
        else if (event === "done" || event === "error") endings.push(event);
      }
    } catch {
      // The connection broke or was refused.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  return { text, endings, connections, positionsLost };
}
