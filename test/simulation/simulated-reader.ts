import { formatPosition, parsePosition } from "../../coordinator/jobs/feed-position.ts";
import { type Feed, FeedCursor, type FeedEnding } from "../../coordinator/jobs/feed.ts";
import type { CoordinatorLife } from "./coordinator-life.ts";

export interface ReaderDeps {
  readonly reader: number;
  readonly accountId: string;
  readonly jobId: string;
  readonly tell: (line: string) => void;
}

/** A client that reads a job's stream in parts, loses its connection, and resumes after its last event. */
export class SimulatedReader {
  readonly jobId: string;
  /** All received text. */
  text = "";
  outputs = 0;
  ending: FeedEnding | null = null;
  /** Whether the reader has output that a crash of the coordinator lost, so that its position may be lost. */
  mayLose = false;
  readonly faults: string[] = [];
  readonly #deps: ReaderDeps;
  #lastEventId = "0.0";
  #stream: { readonly feed: Feed; readonly cursor: FeedCursor } | null = null;
  #isOpening = false;

  constructor(deps: ReaderDeps) {
    this.#deps = deps;
    this.jobId = deps.jobId;
  }

  get isOpen(): boolean {
    return this.#stream !== null || this.#isOpening;
  }

  open(life: CoordinatorLife): void {
    const { accountId, jobId, reader, tell } = this.#deps;
    if (this.isOpen || this.ending !== null) return;
    this.#isOpening = true;
    life.jobs.openFeed(accountId, jobId).then(
      (feed) => {
        if (life.isDead || !this.#isOpening) return;
        this.#isOpening = false;
        life.openFeeds.add(feed);
        this.#attach(feed);
        tell(`reader ${reader}: open after ${this.#lastEventId}`);
      },
      (error: unknown) => {
        if (life.isDead) return;
        this.#isOpening = false;
        this.faults.push(`reader ${reader} of an accepted job was refused: ${String(error)}`);
      },
    );
  }

  /** Reads up to `events` events. */
  read(events: number): void {
    for (let count = 0; count < events && this.#stream !== null; count += 1) {
      const { feed, cursor } = this.#stream;
      if (cursor.isLost) return this.cut();
      const item = cursor.take();
      if (item === undefined) {
        if (feed.ending !== null) this.#end(feed.ending);
        return;
      }
      if (item.type === "token") this.text += item.content;
      if (item.type !== "status") this.outputs += 1;
      this.#lastEventId = formatPosition(cursor.position);
    }
  }

  cut(): void {
    this.#stream = null;
    this.#isOpening = false;
  }

  #attach(feed: Feed): void {
    const after = parsePosition(this.#lastEventId);
    if (after === undefined) throw new Error(`Invalid position ${this.#lastEventId}`);
    if (!feed.hasLost(after)) {
      this.#stream = { feed, cursor: new FeedCursor(feed, after) };
      return;
    }
    // After position_lost, the client discards all output and restarts.
    const { reader, tell } = this.#deps;
    tell(`reader ${reader}: position_lost`);
    if (!this.mayLose) this.faults.push(`reader ${reader} lost its position, and all that it had was stored`);
    this.text = "";
    this.outputs = 0;
    this.#lastEventId = "0.0";
    this.#stream = { feed, cursor: new FeedCursor(feed) };
  }

  #end(ending: FeedEnding): void {
    this.ending = ending;
    this.#stream = null;
    this.#deps.tell(`reader ${this.#deps.reader}: ${ending.type}`);
  }
}
