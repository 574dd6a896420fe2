import type { Change } from "./change.ts";
import type { Entry, Journal } from "./journal.ts";
import { formatPosition, type Position } from "./position.ts";

/** A change with the position of a reader that has it. */
export interface ReadChange {
  readonly change: Change;
  readonly position: string;
}

/** Reads an account's changes, from one connection of its owner. */
export class EventReader {
  readonly #journal: Journal;
  readonly #onClose: () => void;
  /** What the reader missed before it came. */
  readonly #backlog: Entry[];
  #at: Map<string, number>;
  #index: number;
  #isLost: boolean;

  /** `after`: the reader has everything up to there; null for one that begins now. */
  constructor(journal: Journal, after: Position | null, onClose: () => void) {
    this.#journal = journal;
    this.#onClose = onClose;
    const missed = after === null ? [] : journal.after(after);
    this.#isLost = missed === null;
    this.#backlog = [...(missed ?? [])];
    this.#at = new Map(after ?? journal.position);
    this.#index = journal.index;
  }

  /** The reader has missed something that is not known any more. {@link skip} goes on. */
  get isLost(): boolean {
    return this.#isLost || this.#index < this.#journal.floorIndex;
  }

  /** There is something to {@link take}, or the reader {@link isLost}. */
  get hasNext(): boolean {
    return this.isLost || this.#backlog.length > 0 || this.#index < this.#journal.index;
  }

  /** See {@link Journal.isEnded}. */
  get isEnded(): boolean {
    return this.#journal.isEnded;
  }

  get position(): string {
    return formatPosition(this.#at);
  }

  /** The next changes, at most `max`. Empty if all that came was replaced by what was read before. */
  take(max: number): ReadChange[] {
    const missed = this.#backlog.splice(0, max);
    const entries = missed.length > 0 ? missed : this.#arrived(max);
    const last = this.hasNext ? undefined : entries.at(-1);
    return entries.map((entry) => {
      // With the last one the reader has also what was replaced before it came.
      if (entry === last) this.#at = new Map(this.#journal.position);
      else this.#at.set(entry.source, entry.seq);
      return { change: entry.change, position: this.position };
    });
  }

  /** Goes on with what comes from now on. */
  skip(): void {
    this.#isLost = false;
    this.#backlog.length = 0;
    this.#at = new Map(this.#journal.position);
    this.#index = this.#journal.index;
  }

  /** May be called twice. */
  close(): void {
    this.#onClose();
  }

  #arrived(max: number): readonly Entry[] {
    const arrived = [...this.#journal.arrivals(this.#index, max)];
    // Fewer than there could be: all that there is.
    this.#index = arrived.length < max ? this.#journal.index : (arrived.at(-1)?.index ?? this.#index);
    return arrived;
  }
}
