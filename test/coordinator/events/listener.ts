import { readSse } from "../../support/http/read-sse.ts";

export interface ReceivedEvent {
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what the wire says
  readonly data: any;
}

interface ListenOptions {
  readonly key?: string;
  /** This has no effect, because events are not repeated. */
  readonly lastEventId?: string;
  readonly headers?: Record<string, string>;
  readonly path?: string;
}

/** A client of GET /events that records its events. */
export class Listener {
  readonly received: ReceivedEvent[] = [];
  /** Resolves when the stream is over, for any reason. */
  readonly over: Promise<void>;
  readonly #controller = new AbortController();
  readonly #wakers = new Set<() => void>();
  #isOver = false;

  private constructor(response: Response, controller: AbortController) {
    this.#controller = controller;
    this.over = this.#read(response);
  }

  /** @throws for a status other than 200. */
  static async open(
    url: string,
    { key, lastEventId, headers = {}, path = "/events" }: ListenOptions,
  ): Promise<Listener> {
    const controller = new AbortController();
    const response = await fetch(`${url}/api/v1${path}`, {
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
        ...headers,
      },
      signal: controller.signal,
    });
    if (response.status !== 200) throw new Error(`events answered ${response.status}: ${await response.text()}`);
    return new Listener(response, controller);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Names of all events so far. */
  get names(): string[] {
    return this.received.map(({ event }) => event);
  }

  /** Resolves with the first event that matches, including earlier ones. */
  async next(event: string, match: (data: ReceivedEvent["data"]) => boolean = () => true): Promise<ReceivedEvent> {
    for (;;) {
      const found = this.received.find((each) => each.event === event && match(each.data));
      if (found !== undefined) return found;
      if (this.#isOver) throw new Error(`The stream ended before "${event}": ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => this.#wakers.add(resolve));
    }
  }

  /** States of a job, in order of arrival. */
  statesOf(jobId: string): string[] {
    return this.received.flatMap(({ event, data }) => (event === "job" && data.id === jobId ? [data.status] : []));
  }

  async close(): Promise<void> {
    this.#controller.abort();
    await this.over;
  }

  async #read(response: Response): Promise<void> {
    try {
      for await (const { event, data } of readSse(response)) {
        this.received.push({ event, data: JSON.parse(data) });
        this.#wake();
      }
    } catch {
      // The stream was cut.
    }
    this.#isOver = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
  }
}
