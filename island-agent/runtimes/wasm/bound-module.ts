import { JobFailure } from "../../../shared/errors.ts";
import { encodeNumber, joinBytes, ModuleReader } from "./module-bytes.ts";

export const WASM_PAGE_BYTES = 65_536;
/** What a 32-bit memory can have at all. */
export const MOST_PAGES = 65_536;

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
/** Sections by id. Source: WebAssembly core specification §5.5. */
const TYPES = 1;
const TABLES = 4;
const MEMORIES = 5;
const FUNCTION_TYPE = 0x60;
const REFERENCE_TYPES = new Set([0x70, 0x6f]);
/** Flags of limits; others (shared, 64-bit, other page sizes) are of proposals whose memory nothing here would bound. */
const LIMITS = { none: 0, hasMax: 1 };
/** Tables that a module may have, and entries of each: far more than compilers make, and little memory. */
const MOST_TABLES = 4;
const MOST_ENTRIES = 200_000;

/**
 * A module whose memory and tables can never grow past what is allowed, whatever it asked for: the maxima are written into the
 * module, so that the engine itself holds them. Types of the garbage collection proposal, whose objects are outside of both, are refused.
 * @throws {JobFailure} `model_invalid` for what is no module that this runtime takes.
 */
export function boundModule(module: Uint8Array, maxPages: number): Uint8Array<ArrayBuffer> {
  if (HEADER.some((byte, index) => module[index] !== byte)) throw invalid("is not a WebAssembly module of version 1");
  const reader = new ModuleReader(module, HEADER.length);
  const parts: Uint8Array[] = [module.subarray(0, HEADER.length)];
  while (!reader.isAtEnd) {
    const start = reader.at;
    const id = reader.byte();
    const body = reader.take(reader.number());
    if (id === TYPES) assertFunctionTypes(body);
    if (id === MEMORIES) parts.push(withId(MEMORIES, boundMemories(body, Math.min(maxPages, MOST_PAGES))));
    else if (id === TABLES) parts.push(withId(TABLES, boundTables(body)));
    else parts.push(module.subarray(start, reader.at));
  }
  return joinBytes(parts);
}

function boundMemories(body: Uint8Array, maxPages: number): number[] {
  const reader = new ModuleReader(body, 0);
  const count = reader.number();
  if (count === 0) return [0];
  if (count > 1) throw invalid("has more than one memory");
  return [1, ...boundLimits(reader, maxPages, "pages of memory")];
}

function boundTables(body: Uint8Array): number[] {
  const reader = new ModuleReader(body, 0);
  const count = reader.number();
  if (count > MOST_TABLES) throw invalid(`has more than ${MOST_TABLES} tables`);
  const tables = [...encodeNumber(count)];
  for (let index = 0; index < count; index += 1) {
    const type = reader.byte();
    if (!REFERENCE_TYPES.has(type)) throw invalid("has a table of a kind that is not taken here");
    tables.push(type, ...boundLimits(reader, MOST_ENTRIES, "entries of a table"));
  }
  return tables;
}

/** The limits again, with a maximum. */
function boundLimits(reader: ModuleReader, most: number, what: string): number[] {
  const flags = reader.byte();
  if (flags !== LIMITS.none && flags !== LIMITS.hasMax) throw invalid(`has shared, 64-bit or unusual ${what}`);
  const min = reader.number();
  const max = flags === LIMITS.none ? most : reader.number();
  if (min > most) throw invalid(`needs ${min} ${what} at its start and may have ${most}`);
  return [LIMITS.hasMax, ...encodeNumber(min), ...encodeNumber(Math.min(max, most))];
}

function assertFunctionTypes(body: Uint8Array): void {
  const reader = new ModuleReader(body, 0);
  const count = reader.number();
  for (let index = 0; index < count; index += 1) {
    if (reader.byte() !== FUNCTION_TYPE)
      throw invalid("has types of garbage-collected objects, which are not taken here");
    // Parameters, then results; each type is a byte, as references to types of its own need those refused above.
    for (let side = 0; side < 2; side += 1) reader.take(reader.number());
  }
}

function withId(id: number, body: readonly number[]): Uint8Array {
  return Uint8Array.from([id, ...encodeNumber(body.length), ...body]);
}

function invalid(why: string): JobFailure {
  return new JobFailure("model_invalid", `The module ${why}`);
}
