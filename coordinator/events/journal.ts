import { isNews, keyOf, type Change } from "./change.ts";
import type { Position } from "./position.ts";

/** A change, as readers get it. */
export interface Entry {
  readonly change: Change;
  /** The coordinator where it happened, and its number there. */
  readonly source: string;
  readonly seq: number;
  /** Order of arrival in this journal. */
  readonly index: number;
}

interface Source {
  /** What came up to here may be missing. */
  floor: number;
  /** Of its last change. */
  seq: number;
}

/** Most things whose last change is remembered. */
export const MAX_ENTRIES = 1_000;

/**
 * The last changes for one account, one for each thing that changed, from all coordinators that tell of them. A reader is a place in it, so
 * that a slow one costs nothing: it gets the last state of what changed meanwhile, or hears that it has missed something.
 */
export class Journal {
  /** By key, in order of arrival. */
  readonly #entries = new Map<string, Entry>();
  readonly #sources = new Map<string, Source>();
  #index = 0;
  /** Readers before this have missed something. */
  #floorIndex = 0;
  #isEnded = false;

  /** Nothing comes any more: this coordinator stops. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  end(): void {
    this.#isEnded = true;
  }

  /** Of the last arrival. */
  get index(): number {
    return this.#index;
  }

  get floorIndex(): number {
    return this.#floorIndex;
  }

  /** Of a reader that has everything up to here. */
  get position(): Position {
    return new Map([...this.#sources].map(([source, { seq }]) => [source, seq]));
  }

  /** Number of a coordinator's last change; undefined for one that does not tell this journal. */
  seqOf(source: string): number | undefined {
    return this.#sources.get(source)?.seq;
  }

  /** Coordinators that tell of changes. */
  get sources(): Iterable<string> {
    return this.#sources.keys();
  }

  /** That coordinator tells of its changes from here on, whatever it told before. */
  setSource(source: string, seq: number): void {
    this.#sources.set(source, { floor: seq, seq });
  }

  /** Nothing comes from there any more. */
  dropSource(source: string): void {
    this.#sources.delete(source);
    for (const [key, entry] of this.#entries) if (entry.source === source) this.#entries.delete(key);
  }

  /** Takes in a change of a source. One that is older than what is known only counts for its number. */
  add(source: string, seq: number, change: Change): void {
    const own = this.#sources.get(source);
    if (own === undefined || seq <= own.seq) return;
    own.seq = seq;
    const key = keyOf(change);
    const known = this.#entries.get(key);
    // A coordinator's own numbers say what came later, whatever its clock does.
    if (known !== undefined && known.source !== source && !isNews(change, known.change)) return;
    this.#entries.delete(key);
    this.#index += 1;
    this.#entries.set(key, { change, source, seq, index: this.#index });
    if (this.#entries.size > MAX_ENTRIES) this.#dropOldest();
  }

  /** All changes up to a source's number were told, also if the last of them say nothing here. */
  catchUp(source: string, seq: number): void {
    const own = this.#sources.get(source);
    if (own !== undefined) own.seq = Math.max(own.seq, seq);
  }

  /** What came until now may be incomplete: all readers hear of it. */
  reset(): void {
    this.#entries.clear();
    this.#index += 1;
    this.#floorIndex = this.#index;
    for (const source of this.#sources.values()) source.floor = source.seq;
  }

  /** Forgets what is older. */
  expire(beforeMs: number): void {
    for (const { change } of this.#entries.values()) {
      if (change.atMs >= beforeMs) return;
      this.#dropOldest();
    }
  }

  /** A source's changes after a number, in order; null where some of them may be missing. */
  since(source: string, after: number): readonly Entry[] | null {
    const own = this.#sources.get(source);
    if (own === undefined || after < own.floor || after > own.seq) return null;
    return [...this.#entries.values()].filter((entry) => entry.source === source && entry.seq > after);
  }

  /** What a reader at that position does not have; null where some of it may be missing. */
  after(position: Position): readonly Entry[] | null {
    if (position.size !== this.#sources.size) return null;
    for (const [source, { floor, seq }] of this.#sources) {
      const at = position.get(source);
      if (at === undefined || at < floor || at > seq) return null;
    }
    return [...this.#entries.values()].filter(({ source, seq }) => seq > (position.get(source) ?? 0));
  }

  /** Up to `max` arrivals after one. */
  *arrivals(afterIndex: number, max: number): Generator<Entry, void, void> {
    let left = max;
    for (const entry of this.#entries.values()) {
      if (entry.index <= afterIndex) continue;
      if (left === 0) return;
      left -= 1;
      yield entry;
    }
  }

  #dropOldest(): void {
    for (const [key, { source, seq, index }] of this.#entries) {
      this.#entries.delete(key);
      this.#floorIndex = index;
      const own = this.#sources.get(source);
      if (own !== undefined) own.floor = Math.max(own.floor, seq);
      return;
    }
  }
}
