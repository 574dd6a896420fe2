import type { Feed } from "./feed.ts";

/** Feeds of ended jobs, which do not change: a feed that somebody reads is not read from storage again. It keeps none itself. */
export class SharedFeeds {
  readonly #open = new Map<string, WeakRef<Feed>>();
  readonly #reading = new Map<string, Promise<Feed>>();
  readonly #collected = new FinalizationRegistry<string>((jobId) => {
    if (this.#open.get(jobId)?.deref() === undefined) this.#open.delete(jobId);
  });

  open(jobId: string, read: () => Promise<Feed>): Promise<Feed> {
    const open = this.#open.get(jobId)?.deref();
    if (open !== undefined) return Promise.resolve(open);
    const reading = this.#reading.get(jobId) ?? this.#read(jobId, read);
    this.#reading.set(jobId, reading);
    return reading;
  }

  async #read(jobId: string, read: () => Promise<Feed>): Promise<Feed> {
    try {
      const feed = await read();
      this.#open.set(jobId, new WeakRef(feed));
      this.#collected.register(feed, jobId);
      return feed;
    } finally {
      this.#reading.delete(jobId);
    }
  }
}
