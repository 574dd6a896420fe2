/**
 * A view of memory, usually validated UTF-8. It owns nothing and nothing is ever freed, so a slice needs no copy and can be kept.
 * Offsets and lengths are in bytes.
 */
export class Text {
  ptr: usize;
  length: i32;

  constructor(ptr: usize, length: i32) {
    this.ptr = ptr;
    this.length = length;
  }

  static of(words: string): Text {
    const encoded = String.UTF8.encode(words);
    return new Text(changetype<usize>(encoded), encoded.byteLength);
  }

  /** The byte at `offset`; 0 past the end. */
  at(offset: i32): u32 {
    return offset >= 0 && offset < this.length ? load<u8>(this.ptr + offset) : 0;
  }

  slice(from: i32, to: i32): Text {
    return new Text(this.ptr + from, to - from);
  }

  equals(other: Text): bool {
    return this.length == other.length && memory.compare(this.ptr, other.ptr, this.length) == 0;
  }

  /** Compares by code point, which is the byte order of UTF-8. */
  compare(other: Text): i32 {
    const order = memory.compare(this.ptr, other.ptr, min(this.length, other.length));
    return order != 0 ? order : this.length - other.length;
  }

  is(words: string): bool {
    return this.length == words.length && this.has(words, 0);
  }

  /** Whether `words` (ASCII) are at `offset`. */
  has(words: string, offset: i32): bool {
    if (this.length - offset < words.length) return false;
    for (let at = 0; at < words.length; at++) if (this.at(offset + at) != (words.charCodeAt(at) as u32)) return false;
    return true;
  }

  /** Offset of the next `byte` from `from` on, or the length. */
  find(byte: u32, from: i32): i32 {
    let at = from;
    while (at < this.length && load<u8>(this.ptr + at) != byte) at++;
    return at;
  }

  /** FNV-1a, 32 bits, for hash tables. */
  hash(): u32 {
    let hash: u32 = 0x811c9dc5;
    for (let at = 0; at < this.length; at++) hash = (hash ^ load<u8>(this.ptr + at)) * 0x01000193;
    return hash;
  }

  toString(): string {
    return String.UTF8.decodeUnsafe(this.ptr, this.length);
  }
}
