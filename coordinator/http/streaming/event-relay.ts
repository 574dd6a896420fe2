import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../shared/clock.ts";
import type { EventReader } from "../../events/event-reader.ts";
import { frame, type AccountEventEncoder } from "./account-event-encoder.ts";
import type { OverviewFeed, OverviewReader } from "./overview-feed.ts";
import { SSE_HEADERS } from "./sse.ts";

export interface EventRelayOptions {
  readonly reader: EventReader;
  readonly encoder: AccountEventEncoder;
  readonly response: ServerResponse;
  readonly clock: Pick<Clock, "schedule">;
  readonly heartbeatMs: number;
  /** Whether the caller may still have the stream; asked at every heartbeat and before each overview. False cuts it. */
  readonly mayRead: () => Promise<boolean>;
  /** Of the network, for an operator who asks for it. */
  readonly overview: Pick<OverviewFeed, "open"> | null;
}

const HEARTBEAT = ": heartbeat\n\n";
/** Changes of one write. The next one waits until the system has taken it: a client that does not read costs one, and its place. */
const MAX_CHANGES = 100;

/** Writes what changes for an account to a client, until it leaves. Owns the reader and its timer. */
export class EventRelay {
  readonly #options: EventRelayOptions;
  readonly #overview: OverviewReader | null = null;
  #heartbeat: Timer;
  #isWriting = false;
  #isOver = false;

  /** Sends the headers, and where the client stands. */
  constructor(options: EventRelayOptions) {
    this.#options = options;
    const { response, reader, overview } = options;
    response.on("close", this.#onClose);
    this.#heartbeat = this.#scheduleHeartbeat();
    if (response.destroyed) {
      this.#onClose();
      return;
    }
    response.writeHead(200, SSE_HEADERS);
    if (overview !== null) this.#overview = overview.open(this.onChange);
    void this.#pump(async () => {
      // Later ones are news.
      await options.encoder.balance("");
      if (!reader.isLost) await this.#write(frame({ type: "ready" }, reader.position));
    });
  }

  /** There may be something to read. */
  readonly onChange = (): void => {
    if (!this.#isWriting && !this.#isOver) void this.#pump();
  };

  /** Writes `first`, and then all that there is. One at a time. */
  async #pump(first: () => Promise<void> = async () => undefined): Promise<void> {
    const { reader, response } = this.#options;
    this.#isWriting = true;
    try {
      await first();
      while (!this.#isOver && (reader.hasNext || this.#overview?.hasNews === true))
        await this.#write(await this.#next());
    } catch {
      // Storage is away. The client comes back with its position.
      response.destroy();
    }
    this.#isWriting = false;
    if (reader.isEnded) response.end();
  }

  async #next(): Promise<string> {
    const { reader, encoder, response, mayRead } = this.#options;
    if (this.#overview?.hasNews === true) {
      const overview = this.#overview.take() ?? "";
      if (await mayRead()) return overviewFrame(overview, reader.position);
      response.destroy();
      return "";
    }
    if (!reader.isLost) return encoder.encode(reader.take(MAX_CHANGES));
    reader.skip();
    return frame({ type: "reset" }, reader.position);
  }

  async #write(text: string): Promise<void> {
    const { response } = this.#options;
    if (text === "" || this.#isOver) return;
    await new Promise<void>((resolve) => {
      // A connection that ends may leave a write unanswered.
      response.once("close", resolve);
      response.write(text, () => {
        response.off("close", resolve);
        resolve();
      });
    });
  }

  #scheduleHeartbeat(): Timer {
    const { clock, heartbeatMs, reader, encoder } = this.#options;
    return clock.schedule(heartbeatMs, () => {
      this.#heartbeat = this.#scheduleHeartbeat();
      void this.#cutOffUnlessMayRead();
      if (this.#isWriting) return;
      void this.#pump(async () => {
        await this.#write(HEARTBEAT);
        // A grant is noted before it is done, and may be done late.
        await this.#write(await encoder.balance(reader.position));
      });
    });
  }

  async #cutOffUnlessMayRead(): Promise<void> {
    const { mayRead, response } = this.#options;
    if (!(await mayRead().catch(() => true))) response.destroy();
  }

  readonly #onClose = (): void => {
    this.#isOver = true;
    this.#heartbeat.cancel();
    this.#overview?.close();
    this.#options.reader.close();
    this.#options.response.off("close", this.#onClose);
  };
}

function overviewFrame(data: string, position: string): string {
  return `id: ${position}\nevent: overview\ndata: ${data}\n\n`;
}
