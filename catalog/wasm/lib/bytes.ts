import { Text } from "./text";

/** Limit of a buffer, including the output: a frame of an Island has at most 8 MB, and escapes can double a text. */
export const MAX_BYTES = 4 * 1024 * 1024;

/** A growing byte buffer. Above 4 MB the job fails, since a small input can cause unbounded output. */
export class Bytes {
  ptr: usize;
  length: i32 = 0;
  private capacity: i32;

  constructor(capacity: i32 = 256) {
    this.ptr = heap.alloc(capacity);
    this.capacity = capacity;
  }

  /** Reserves `count` more bytes and returns their address. */
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

  /** Like `putText` with a slice, but without creating one. */
  putPart(text: Text, from: i32, to: i32): void {
    memory.copy(this.reserve(to - from), text.ptr + from, to - from);
    this.length += to - from;
  }

  /** For string literals of the program. */
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

  /** The current content; valid until more is put. */
  text(): Text {
    return new Text(this.ptr, this.length);
  }
}

export function putCodePoint(bytes: Bytes, codePoint: u32): void {
  if (codePoint < 0x80) return bytes.put(codePoint);
  if (codePoint < 0x800) bytes.put(0xc0 | (codePoint >> 6));
  else {
    if (codePoint < 0x10000) bytes.put(0xe0 | (codePoint >> 12));
    else {
      bytes.put(0xf0 | (codePoint >> 18));
      bytes.put(0x80 | ((codePoint >> 12) & 0x3f));
    }
    bytes.put(0x80 | ((codePoint >> 6) & 0x3f));
  }
  bytes.put(0x80 | (codePoint & 0x3f));
}
