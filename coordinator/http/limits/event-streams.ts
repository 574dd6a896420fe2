import { OverloadedError, RateLimitedError } from "../../../shared/errors.ts";
import { RETRY_AFTER_S } from "../../store/refusals.ts";
import type { ReleaseStream } from "../../quotas/caller-quota.ts";
import { Pool } from "../../quotas/pool.ts";

/** Streams of events that an account may have open here: a page in some tabs, and some programs. */
export const MAX_EVENT_STREAMS = 10;
/** Of all accounts. Each costs a connection and some 20 KB; more belong to another coordinator. */
export const MAX_ALL_STREAMS = 10_000;

/** Open streams of events. Those of an account have one place among its open streams together, so that pages leave room for chats. */
export class EventStreams {
  readonly #open = new Pool({ all: MAX_ALL_STREAMS, account: MAX_EVENT_STREAMS });
  /** Of accounts with an open stream of events: their place among the account's open streams. */
  readonly #places = new Map<string, Promise<ReleaseStream>>();

  /**
   * The returned function closes the stream, and may be called twice. `openPlace`: takes a place among the account's open streams.
   * @throws {RateLimitedError} and {@link OverloadedError}
   */
  async enter(accountId: string, openPlace: () => ReleaseStream | Promise<ReleaseStream>): Promise<ReleaseStream> {
    const release = this.#open.take([["all"], ["account", accountId]]);
    if (release === "all") {
      throw new OverloadedError("Too many streams of events are open at this coordinator; try again in a few seconds");
    }
    if (release === "account") throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
    const close = (): void => {
      release();
      if (this.#open.count("account", accountId) > 0) return;
      const place = this.#places.get(accountId);
      this.#places.delete(accountId);
      place?.then(
        (leave) => leave(),
        () => undefined,
      );
    };
    try {
      const place = this.#places.get(accountId) ?? Promise.resolve(openPlace());
      this.#places.set(accountId, place);
      await place;
    } catch (error) {
      close();
      throw error;
    }
    return close;
  }
}
