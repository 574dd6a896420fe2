/** An item of a heap. Only the heap writes `heapIndex`, which is -1 outside of a heap: an item is in at most one. */
export interface HeapItem {
  heapIndex: number;
}

/**
 * A binary heap whose items know their index, so that removing or moving an item takes O(log n). `before` must be a
 * total order: with equal items the outcome would depend on history.
 */
export class IndexedHeap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

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
    const open = this.#items.slice(0, 1);
    while (found.length < count && open.length > 0) {
      const next = open.reduce((first, item) => (this.#before(item, first) ? item : first));
      found.push(next);
      open.splice(open.indexOf(next), 1, ...this.#items.slice(2 * next.heapIndex + 1, 2 * next.heapIndex + 3));
    }
    return found;
  }

  push(item: T): void {
    if (item.heapIndex !== -1) throw new Error("The item is already in a heap (heapIndex must be -1)");
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  remove(item: T): void {
    this.#assertMember(item);
    const index = item.heapIndex;
    item.heapIndex = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#rise(last, this.#sinkHole(index));
  }

  /** Re-sorts an item of this heap whose key changed. */
  update(item: T): void {
    this.#assertMember(item);
    this.#rise(item, this.#sinkHole(item.heapIndex));
  }

  #assertMember(item: T): void {
    if (this.#items[item.heapIndex] !== item) throw new Error("The item is not in this heap");
  }

  /** Puts the item into the hole at `from`, or above it after moving parents down. */
  #rise(item: T, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#items[parentIndex];
      if (parent === undefined || !this.#before(item, parent)) break;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(item, index);
  }

  /**
   * Moves children up into the hole until it has none, and returns its index. The item that fills the hole is usually
   * near the bottom and rises from there, which takes half the comparisons of sinking it from the top.
   */
  #sinkHole(from: number): number {
    let index = from;
    for (let child = this.#firstChild(index); child !== undefined; child = this.#firstChild(index)) {
      const childIndex = child.heapIndex;
      this.#put(child, index);
      index = childIndex;
    }
    return index;
  }

  #firstChild(index: number): T | undefined {
    const left = this.#items[2 * index + 1];
    const right = this.#items[2 * index + 2];
    return left !== undefined && right !== undefined && this.#before(right, left) ? right : left;
  }

  #put(item: T, index: number): void {
    this.#items[index] = item;
    item.heapIndex = index;
  }
}
