import { Text } from "./text";
import { putCodePoint } from "./utf8";

/** What a Cargo may build up, its answer included: an Island's frame takes 8 MB, and escapes can double a text. */
export const MAX_BYTES = 4 * 1024 * 1024;

/** Bytes that grow at their end. Past 4 MB the job fails: a small input can ask for an answer without bound. */
export class Bytes {
  ptr: usize;
  length: i32 = 0;
  private capacity: i32;

  constructor(capacity: i32 = 256) {
    this.ptr = heap.alloc(capacity);
    this.capacity = capacity;
  }

  /** Makes room for `count` more bytes and returns the address where they go. */
  reserve(count: i32): usize {
    const needed = this.length + count;
    if (needed > this.capacity) {
      assert(needed <= MAX_BYTES, "The result would be larger than 4 MB; ask for less at once");
      this.capacity = max(needed, this.capacity * 2);
      this.ptr = heap.realloc(this.ptr, this.capacity);
    }
    return this.ptr + this.length;
  }

  put(byte: u32): void {
    store<u8>(this.reserve(1), byte as u8);
    this.length++;
  }

  putText(text: Text): void {
    this.putPart(text, 0, text.length);
  }

  /** As `putText` of a slice, without making one. */
  putPart(text: Text, from: i32, to: i32): void {
    memory.copy(this.reserve(to - from), text.ptr + from, to - from);
    this.length += to - from;
  }

  /** For words of this program. */
  putString(words: string): void {
    for (let at = 0; at < words.length;) {
      const codePoint = words.codePointAt(at);
      putCodePoint(this, codePoint as u32);
      at += codePoint > 0xffff ? 2 : 1;
    }
  }

  putInteger(value: i64): void {
    if (value < 0) {
      this.put(0x2d);
      value = -value;
    }
    if (value >= 10) this.putInteger(value / 10);
    this.put(0x30 + ((value % 10) as u32));
  }

  putRepeated(byte: u32, count: i32): void {
    memory.fill(this.reserve(count), byte as u8, count);
    this.length += count;
  }

  /** What there is so far. It stays as it is only while nothing more is put. */
  text(): Text {
    return new Text(this.ptr, this.length);
  }
}
