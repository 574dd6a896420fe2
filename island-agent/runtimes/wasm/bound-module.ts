import { JobFailure } from "../../../shared/errors.ts";
import { encodeNumber, joinBytes, ModuleReader } from "./module-bytes.ts";

export const WASM_PAGE_BYTES = 65_536;
const MAX_PAGES = 65_536;

const MAGIC = [0x00, 0x61, 0x73, 0x6d];
const HEADER = [...MAGIC, 0x01, 0x00, 0x00, 0x00];
/** Bytes 7 and 8 of a component (0 in a module), in any version. Source: component model, Binary.md, `layer`. */
const COMPONENT_LAYER = [0x01, 0x00];
/** Ids of sections. Source: WebAssembly core specification §5.5. */
const TYPE_SECTION = 1;
const TABLE_SECTION = 4;
const MEMORY_SECTION = 5;
const FUNCTION_TYPE = 0x60;
const REFERENCE_TYPES = new Set([0x70, 0x6f]);
/**
 * Known flags of limits. Other flags (shared, 64-bit, page sizes) belong to proposals whose memory is not limited here.
 */
const LIMITS = { none: 0, hasMax: 1 };
/** Maximum number of tables, which is far more than compilers produce and still takes little memory. */
const MAX_TABLES = 4;
const MAX_TABLE_ENTRIES = 200_000;

/**
 * Rewrites a module so that its memory and tables have a maximum, which the engine then enforces. Types of the garbage
 * collection proposal are refused, because their objects live outside memory and tables.
 * @throws {JobFailure} `model_invalid` for bytes that are not a module this runtime supports.
 */
export function boundModule(module: Uint8Array, maxPages: number): Uint8Array<ArrayBuffer> {
  assertCoreModule(module);
  const reader = new ModuleReader(module, HEADER.length);
  const parts: Uint8Array[] = [module.subarray(0, HEADER.length)];
  while (!reader.isAtEnd) {
    const start = reader.at;
    const id = reader.byte();
    const body = reader.take(reader.number());
    if (id === TYPE_SECTION) assertFunctionTypes(body);
    if (id === MEMORY_SECTION) parts.push(withId(MEMORY_SECTION, boundMemories(body, Math.min(maxPages, MAX_PAGES))));
    else if (id === TABLE_SECTION) parts.push(withId(TABLE_SECTION, boundTables(body)));
    else parts.push(module.subarray(start, reader.at));
  }
  return joinBytes(parts);
}

function assertCoreModule(module: Uint8Array): void {
  const startsWith = (bytes: readonly number[], at: number): boolean =>
    bytes.every((byte, index) => module[at + index] === byte);
  if (startsWith(HEADER, 0)) return;
  if (startsWith(MAGIC, 0) && startsWith(COMPONENT_LAYER, 6)) {
    throw invalidModule(
      "is a component (WASI preview 2 or later). Build the program for WASI preview 1, as a command: " +
        "target wasm32-wasip1 of Rust and TinyGo, wasm32-wasi of clang",
    );
  }
  throw invalidModule("is not a WebAssembly module of version 1");
}

function boundMemories(body: Uint8Array, maxPages: number): number[] {
  const reader = new ModuleReader(body, 0);
  const count = reader.number();
  if (count === 0) return [0];
  if (count > 1) throw invalidModule("has more than one memory");
  return [1, ...boundLimits(reader, maxPages, "pages of memory")];
}

function boundTables(body: Uint8Array): number[] {
  const reader = new ModuleReader(body, 0);
  const count = reader.number();
  if (count > MAX_TABLES) throw invalidModule(`has more than ${MAX_TABLES} tables`);
  const tables = [...encodeNumber(count)];
  for (let index = 0; index < count; index += 1) {
    const type = reader.byte();
    if (!REFERENCE_TYPES.has(type)) throw invalidModule("has a table of an unsupported type");
    tables.push(type, ...boundLimits(reader, MAX_TABLE_ENTRIES, "entries of a table"));
  }
  return tables;
}

/** Reads limits and encodes them with a maximum of at most `cap`. */
function boundLimits(reader: ModuleReader, cap: number, what: string): number[] {
  const flags = reader.byte();
  if (flags !== LIMITS.none && flags !== LIMITS.hasMax) throw invalidModule(`has shared, 64-bit or unusual ${what}`);
  const min = reader.number();
  const max = flags === LIMITS.none ? cap : reader.number();
  if (min > cap) throw invalidModule(`needs ${min} ${what} at its start, but at most ${cap} are allowed`);
  return [LIMITS.hasMax, ...encodeNumber(min), ...encodeNumber(Math.min(max, cap))];
}

function assertFunctionTypes(body: Uint8Array): void {
  const reader = new ModuleReader(body, 0);
  const count = reader.number();
  for (let index = 0; index < count; index += 1) {
    if (reader.byte() !== FUNCTION_TYPE)
      throw invalidModule("has types of garbage-collected objects, which are not supported");
    // Parameters come first, then results. Each type is one byte, because references to the module's own types need the
    // types refused above.
    for (let side = 0; side < 2; side += 1) reader.take(reader.number());
  }
}

function withId(id: number, body: readonly number[]): Uint8Array {
  return Uint8Array.from([id, ...encodeNumber(body.length), ...body]);
}

function invalidModule(why: string): JobFailure {
  return new JobFailure("model_invalid", `The module ${why}`);
}
