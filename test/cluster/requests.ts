import { call, collect, jobEvents, until, type SseEvent } from "../support/http/http.ts";
import { readSse } from "../support/http/read-sse.ts";
import { wordsPrompt } from "./word-runtime.ts";

const ENDED = ["completed", "failed", "cancelled", "timeout"];
const RETRY_MS = 50;
/** A silent stream carries a comment each 2 s. */
const MAX_SILENCE_MS = 8_000;

/** Submits a job of so many words. Returns its id. */
export async function submitWords(
  url: string,
  key: string,
  words: number,
  everyMs: number,
  headers: Record<string, string> = {},
): Promise<string> {
  const body = { workload: "tiny-chat", input: { prompt: wordsPrompt(words, everyMs) } };
  const answer = await call(url, key, "POST", "/jobs", body, headers);
  if (answer.status !== 201)
    throw new Error(`A submission was answered ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data.id as string;
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what the wire says
export async function jobAt(url: string, key: string, jobId: string): Promise<any> {
  return (await call(url, key, "GET", `/jobs/${jobId}`)).body.data;
}

/** The job as soon as it has ended. `url`: asked for each request. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests read what the wire says
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
  /** Connections that it took. */
  readonly connections: number;
  /** How often a position was not known any more. */
  readonly positionsLost: number;
}

/** Reads a stream to its end, over as many coordinators as it takes: each connection goes to the next, after the last event that came. */
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
      if (response.status !== 200) throw new Error(`The stream answered ${response.status}`);
      for await (const { id, event, data } of readSse(response, MAX_SILENCE_MS)) {
        lastEventId = id;
        if (event === "token") text += JSON.parse(data).content;
        else if (event === "done" || event === "error") endings.push(event);
      }
    } catch {
      // Cut, or refused for now.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  return { text, endings, connections, positionsLost };
}
