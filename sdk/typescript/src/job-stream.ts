import { AtollError, ConnectionError } from "./errors.ts";
import type { Http } from "./http.ts";
import { isLast, readJobEvent, type StreamedEvent } from "./job-events.ts";
import type { CallOptions } from "./settings.ts";

/** The coordinator's answer to a place in the stream that it has lost. */
const POSITION_LOST = "position_lost";

export interface StreamOptions extends CallOptions {
  /** Goes on after the event with this id, as an earlier stream of the same job gave it. */
  readonly lastEventId?: string | undefined;
}

/**
 * A job's events from the beginning, or from `lastEventId`, to its one `done` or `error`. A dropped connection is taken up
 * after the last event that came whole, so that nothing is missing and nothing comes twice. Where that cannot be, as a crash
 * of the coordinator lost what was delivered, one `restart` says so and the events come again from the beginning.
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
      if (position !== undefined && error instanceof AtollError && error.code === POSITION_LOST) {
        position = undefined;
        yield { type: "restart", id: "" };
        continue;
      }
      await retries.pause(error);
    }
  }
}
