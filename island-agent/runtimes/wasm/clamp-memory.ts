import { JobFailure } from "../../../shared/errors.ts";

export const WASM_PAGE_BYTES = 65_536;

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const MEMORY_SECTION = 5;
/** Bits of a memory's limits. Source: WebAssembly core specification §5.3.7, and the threads and memory64 proposals. */
const LIMITS = { hasMax: 1, isShared: 2, is64Bit: 4 };

/**
 * A module whose one memory can never grow past `maxPages`, whatever it asked for: the maximum is written into the module, so
 * that the engine itself holds it.
 * @throws {JobFailure} `model_invalid` for what is no module that this runtime takes.
 */
export function clampMemory(module: Uint8Array, maxPages: number): Uint8Array<ArrayBuffer> {
  if (HEADER.some((byte, index) => module[index] !== byte)) throw invalid("is not a WebAssembly module of version 1");
  const reader = new Reader(module, HEADER.length);
  const parts: Uint8Array[] = [module.subarray(0, HEADER.length)];
  while (!reader.isAtEnd) {
    const start = reader.at;
    const id = reader.byte();
    const size = reader.number();
    const body = reader.at;
    reader.skip(size);
    if (id === MEMORY_SECTION) parts.push(clampSection(module.subarray(body, body + size), maxPages));
    else parts.push(module.subarray(start, reader.at));
  }
  return joinParts(parts);
}

/** The memory section again, with id and size. */
function clampSection(body: Uint8Array, maxPages: number): Uint8Array {
  const reader = new Reader(body, 0);
  const count = reader.number();
  if (count === 0) return Uint8Array.from([MEMORY_SECTION, 1, 0]);
  if (count > 1) throw invalid("has more than one memory");
  const flags = reader.byte();
  if ((flags & LIMITS.is64Bit) !== 0) throw invalid("has a 64-bit memory");
  if ((flags & LIMITS.isShared) !== 0) throw invalid("has a shared memory");
  const min = reader.number();
  const max = (flags & LIMITS.hasMax) === 0 ? maxPages : reader.number();
  if (min > maxPages) throw invalid(`needs ${min} pages of memory at its start and may have ${maxPages}`);
  const limits = [1, LIMITS.hasMax, ...encodeNumber(min), ...encodeNumber(Math.min(max, maxPages))];
  return Uint8Array.from([MEMORY_SECTION, ...encodeNumber(limits.length), ...limits]);
}

class Reader {
  at: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.at];
    if (byte === undefined) throw invalid("ends too early");
    this.at += 1;
    return byte;
  }

  /** An unsigned LEB128 number of at most 32 bits. */
  number(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
    throw invalid("holds a number that is too long");
  }

  skip(bytes: number): void {
    this.at += bytes;
    if (this.at > this.#bytes.length) throw invalid("ends too early");
  }
}

function encodeNumber(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest === 0 ? low : low + 128);
  } while (rest > 0);
  return bytes;
}

function joinParts(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function invalid(why: string): JobFailure {
  return new JobFailure("model_invalid", `The module ${why}`);
}
