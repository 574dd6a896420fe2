import { AtollError, ConnectionError } from "./errors.ts";
import type { Http } from "./http.ts";
import { isLast, readJobEvent, type StreamedEvent } from "./job-events.ts";
import type { CallOptions } from "./settings.ts";

/** Error code for a stream position that the coordinator lost in a crash. */
const POSITION_LOST = "position_lost";

export interface StreamOptions extends CallOptions {
  /** Id of an event of an earlier stream of the same job. The stream continues after it. */
  readonly lastEventId?: string | undefined;
}

/**
 * Streams a job's events from the beginning, or after `lastEventId`, to its one `done` or `error`. After a dropped connection the stream
 * continues after the last complete event, without gap or repeat. If a crash of the coordinator lost that position, one `restart`
 * follows, and the events start from the beginning.
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
    const traits = {
      headers: position === undefined ? {} : { "last-event-id": position },
      onNoContent: () => {
        isOver = true;
      },
    };
    try {
      for await (const event of http.events("get", "/jobs/{id}/stream", { path: { id: jobId } }, options, traits)) {
        const read = readJobEvent(event);
        position = event.id;
        retries.reset();
        if (read === null) continue;
        yield read;
        if (isLast(read)) return;
      }
      if (isOver) return;
      throw new ConnectionError(`The connection closed before the end of the stream of ${jobId}`);
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
