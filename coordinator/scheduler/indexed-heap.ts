/** An item of a heap. Only the heap writes `heapIndex`, which is -1 outside of a heap: an item is in at most one. */
export interface HeapItem {
  heapIndex: number;
}

/**
 * A binary heap whose items know their index, so that removing or moving an item takes O(log n). The item with the
 * lowest key is first. One array has all keys: reading them from 10,000 items would miss the processor's caches.
 */
export class IndexedHeap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #keys: number[] = [];
  readonly #before: (a: T, b: T) => boolean;

  /** @param before Orders items with equal keys. It must be a total order: otherwise the outcome depends on history. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  /** Returns all items in heap order. */
  items(): readonly T[] {
    return this.#items;
  }

  /** Returns the first `count` items in their order. */
  first(count: number): T[] {
    const found: T[] = [];
    // A child is never before its parent, so only children of found items can be next.
    const open = [0];
    for (let next = open.pop(); next !== undefined && found.length < count; next = open.pop()) {
      const item = this.#items[next];
      if (item === undefined) continue;
      found.push(item);
      this.#insert(2 * next + 1, open);
      this.#insert(2 * next + 2, open);
    }
    return found;
  }

  push(item: T, key: number): void {
    if (item.heapIndex !== -1) throw new Error("The item is already in a heap (heapIndex must be -1)");
    this.#rise(item, key, this.size);
  }

  remove(item: T): void {
    this.#assertMember(item);
    const index = item.heapIndex;
    item.heapIndex = -1;
    const last = this.#items.pop();
    const key = this.#keys.pop();
    if (last === undefined || key === undefined || last === item) return;
    this.#rise(last, key, this.#sinkHole(index));
  }

  /** Gives an item of this heap another key. */
  update(item: T, key: number): void {
    this.#assertMember(item);
    this.#rise(item, key, this.#sinkHole(item.heapIndex));
  }

  /** Returns true if the item at index `a` comes before the one at index `b`. */
  protected isBefore(a: number, b: number): boolean {
    const keyA = this.#keys[a] ?? Infinity;
    const keyB = this.#keys[b] ?? Infinity;
    if (keyA !== keyB) return keyA < keyB;
    const itemA = this.#items[a];
    const itemB = this.#items[b];
    return itemA !== undefined && itemB !== undefined && this.#before(itemA, itemB);
  }

  /** Inserts an index into a list in which the first item is last. */
  #insert(index: number, open: number[]): void {
    let at = open.push(index) - 1;
    for (let before = open[at - 1]; before !== undefined && this.isBefore(before, index); before = open[at - 1]) {
      open[at] = before;
      at -= 1;
    }
    open[at] = index;
  }

  #assertMember(item: T): void {
    if (this.#items[item.heapIndex] !== item) throw new Error("The item is not in this heap");
  }

  /** Puts the item into the hole at `from`, and moves it above the parents that it precedes. */
  #rise(item: T, key: number, from: number): void {
    let index = from;
    this.#put(item, key, index);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.isBefore(index, parent)) return;
      this.#move(parent, index);
      this.#put(item, key, parent);
      index = parent;
    }
  }

  /**
   * Moves children up into the hole until it has none, and returns its index. The item that fills the hole is usually
   * near the bottom and rises from there, which takes half the comparisons of sinking it from the top.
   */
  #sinkHole(from: number): number {
    let index = from;
    for (let child = this.#firstChild(index); child < this.size; child = this.#firstChild(index)) {
      this.#move(child, index);
      index = child;
    }
    return index;
  }

  #firstChild(index: number): number {
    const left = 2 * index + 1;
    const right = left + 1;
    return right < this.size && this.isBefore(right, left) ? right : left;
  }

  #move(from: number, to: number): void {
    const item = this.#items[from];
    const key = this.#keys[from];
    if (item !== undefined && key !== undefined) this.#put(item, key, to);
  }

  #put(item: T, key: number, index: number): void {
    this.#items[index] = item;
    this.#keys[index] = key;
    item.heapIndex = index;
  }
}
