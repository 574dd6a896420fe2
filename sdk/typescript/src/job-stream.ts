import { ConnectionError } from "./errors.ts";
import type { Http } from "./http.ts";
import { isLast, readJobEvent, type StreamedEvent } from "./job-events.ts";
import type { CallOptions } from "./settings.ts";

export interface StreamOptions extends CallOptions {
  /** Goes on after the event with this id, as an earlier stream of the same job gave it. */
  readonly lastEventId?: string | undefined;
}

/**
 * A job's events from the beginning, or from `lastEventId`, to its one `done` or `error`. A dropped connection is taken up
 * after the last event that came whole, so that nothing is missing and nothing comes twice.
 */
export async function* streamJob(
  http: Http,
  jobId: string,
  { lastEventId, ...options }: StreamOptions,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const retries = http.retries(options, true);
  let position = lastEventId;
  for (;;) {
    let isOver = false;
    const manner = {
      headers: position === undefined ? {} : { "last-event-id": position },
      onNoContent: () => {
        isOver = true;
      },
    };
    try {
      for await (const event of http.events("get", "/jobs/{id}/stream", { path: { id: jobId } }, options, manner)) {
        const read = readJobEvent(event);
        position = event.id;
        retries.reset();
        if (read === null) continue;
        yield read;
        if (isLast(read)) return;
      }
      if (isOver) return;
      throw new ConnectionError(`The stream of ${jobId} was cut before its end`);
    } catch (error) {
      await retries.pause(error);
    }
  }
}
