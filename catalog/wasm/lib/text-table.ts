import { Text } from "./text";

const NO_SLOTS = new StaticArray<i32>(0);
/** Smaller tables are searched linearly. */
const INDEXED_FROM = 8;

/** A set of texts in insertion order, with the index of each. */
export class TextTable {
  texts: Text[] = [];
  /** Hash table with open addressing; entries are index + 1. */
  private slots: StaticArray<i32> = NO_SLOTS;

  /** Index of `text`, or -1. */
  indexOf(text: Text): i32 {
    if (this.slots.length > 0) return this.slots[this.slotOf(text)] - 1;
    for (let at = 0; at < this.texts.length; at++) if (this.texts[at].equals(text)) return at;
    return -1;
  }

  /** Index of `text`; adds it at the end if it is new. */
  add(text: Text): i32 {
    const known = this.indexOf(text);
    if (known >= 0) return known;
    const count = this.texts.push(text);
    if (count >= INDEXED_FROM) {
      if (count * 2 > this.slots.length) this.reindex();
      else this.slots[this.slotOf(text)] = count;
    }
    return count - 1;
  }

  private reindex(): void {
    this.slots = new StaticArray<i32>(this.texts.length * 4);
    for (let at = 0; at < this.texts.length; at++) this.slots[this.slotOf(this.texts[at])] = at + 1;
  }

  /** The slot of `text`, or the free slot for it. */
  private slotOf(text: Text): i32 {
    const count = this.slots.length;
    let slot = (text.hash() % (count as u32)) as i32;
    while (this.slots[slot] != 0 && !this.texts[this.slots[slot] - 1].equals(text)) slot = (slot + 1) % count;
    return slot;
  }
}
