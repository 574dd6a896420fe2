import { OverloadedError, RateLimitedError } from "../../../shared/errors.ts";
import { RETRY_AFTER_S } from "../../store/refusals.ts";
import type { ReleaseStream } from "../../quotas/caller-quota.ts";

/** Streams of events that an account may have open here: a page in some tabs, and some programs. */
export const MAX_EVENT_STREAMS = 10;
/** Of all accounts. Each costs a connection and some 20 KB; more belong to another coordinator. */
export const MAX_ALL_STREAMS = 10_000;

interface Shared {
  count: number;
  /** Among the open streams of the account. */
  readonly place: Promise<ReleaseStream>;
}

/** Open streams of events. Those of an account have one place among its open streams together, so that pages leave room for chats. */
export class EventStreams {
  readonly #open = new Map<string, Shared>();
  #all = 0;

  /**
   * The returned function closes the stream, and may be called twice. `openPlace`: takes a place among the account's open streams.
   * @throws {RateLimitedError} and {@link OverloadedError}
   */
  async enter(accountId: string, openPlace: () => ReleaseStream | Promise<ReleaseStream>): Promise<ReleaseStream> {
    if (this.#all >= MAX_ALL_STREAMS) {
      throw new OverloadedError("Too many streams of events are open at this coordinator; try again in a few seconds");
    }
    // A refusal by `openPlace` leaves nothing behind.
    const shared = this.#open.get(accountId) ?? { count: 0, place: Promise.resolve(openPlace()) };
    if (shared.count >= MAX_EVENT_STREAMS) throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
    shared.count += 1;
    this.#all += 1;
    this.#open.set(accountId, shared);
    let isOpen = true;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      shared.count -= 1;
      this.#all -= 1;
      if (shared.count > 0) return;
      this.#open.delete(accountId);
      shared.place.then(
        (release) => release(),
        () => undefined,
      );
    };
    try {
      await shared.place;
    } catch (error) {
      close();
      throw error;
    }
    return close;
  }
}
