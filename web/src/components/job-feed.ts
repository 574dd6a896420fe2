import { AtollError, type StreamedEvent, type Usage } from "@atoll/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../app/api.ts";
import { signIns } from "../app/session.ts";
import { Repaints } from "./repaints.ts";
import type { Image } from "./output.tsx";

/** Accumulated content of a job's stream. */
export interface JobFeed {
  readonly state: string | null;
  readonly text: string;
  readonly image: Image | null;
  readonly progress: { readonly step: number; readonly total: number } | null;
  readonly ending:
    | { readonly type: "done"; readonly usage: Usage; readonly output: unknown }
    | { readonly type: "error"; readonly code: string; readonly message: string }
    | null;
  /** Error that ended the reading of the stream, or null. */
  readonly failure: unknown;
  /** Counts state changes. The page reads the job again after each change. */
  readonly changes: number;
}

const NOTHING: JobFeed = {
  state: null,
  text: "",
  image: null,
  progress: null,
  ending: null,
  failure: null,
  changes: 0,
};
/** Retries of the stream. A coordinator may be down for minutes; the client's delays grow to 8 s. */
const MAX_RETRIES = 1_000;

/**
 * Follows a job while the component is shown, across broken connections and coordinator restarts. `id` is null while
 * there is no job yet.
 */
export function useJobFeed(id: string | null): JobFeed {
  const [feed, setFeed] = useState(NOTHING);
  useEffect(() => {
    setFeed(NOTHING);
    if (id === null) return undefined;
    const abort = new AbortController();
    void follow(id, abort.signal, setFeed);
    return () => abort.abort();
  }, [id, signIns.value]);
  return feed;
}

async function follow(id: string, signal: AbortSignal, show: (feed: JobFeed) => void): Promise<void> {
  let feed = NOTHING;
  const repaints = new Repaints(() => {
    if (!signal.aborted) show(feed);
  });
  try {
    for await (const event of api().jobs.stream(id, { signal, maxRetries: MAX_RETRIES })) {
      feed = advance(feed, event);
      repaints.schedule(feed.text.length);
    }
  } catch (failure) {
    if (signal.aborted) return;
    // Input or output was removed, as the job's detail shows.
    if (failure instanceof AtollError && failure.status === 410) return;
    feed = { ...feed, failure, changes: feed.changes + 1 };
    repaints.now();
  }
}

export function advance(feed: JobFeed, event: StreamedEvent): JobFeed {
  switch (event.type) {
    case "restart":
      return { ...NOTHING, changes: feed.changes + 1 };
    case "status":
      return { ...feed, state: event.state, changes: feed.changes + 1 };
    case "token":
      return { ...feed, text: feed.text + event.content };
    case "image":
      return { ...feed, image: { format: event.format, data: event.data } };
    case "progress":
      return { ...feed, progress: { step: event.step, total: event.total } };
    case "done":
      return { ...feed, ending: { type: "done", usage: event.usage, output: event.output }, changes: feed.changes + 1 };
    case "error":
      return { ...feed, ending: { type: "error", code: event.code, message: event.error }, changes: feed.changes + 1 };
    default:
      return feed;
  }
}
