import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundModule } from "../../../../island-agent/runtimes/wasm/bound-module.ts";

const HEADER = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
/** A module with the memory section `body`. It exports its first memory, if any. */
const moduleWith = (body: readonly number[], isExported = true): Uint8Array<ArrayBuffer> => {
  const exported = isExported ? [7, 10, 1, 6, ...Buffer.from("memory"), 2, 0] : [];
  return Uint8Array.from([...HEADER, 5, body.length, ...body, ...exported]);
};
const withSection = (id: number, body: readonly number[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from([...HEADER, id, body.length, ...body]);

async function memoryOf(bytes: Uint8Array<ArrayBuffer>): Promise<{ grow(pages: number): number; buffer: ArrayBuffer }> {
  const instance = new WebAssembly.Instance(await WebAssembly.compile(bytes), {});
  return instance.exports["memory"] as never;
}

describe("boundModule()", () => {
  it.each([
    ["no maximum", [1, 0, 1]],
    ["a larger maximum", [1, 1, 1, 100]],
  ])("permits a memory with %s to grow up to the cap", async (_title, body) => {
    const memory = await memoryOf(boundModule(moduleWith(body), 5));
    expect(memory.grow(4)).toBe(1);
    expect(() => memory.grow(1)).toThrow(RangeError);
    expect(memory.buffer.byteLength).toBe(5 * 65_536);
  });

  it("keeps a smaller maximum", async () => {
    const memory = await memoryOf(boundModule(moduleWith([1, 1, 1, 2]), 5));
    expect(() => memory.grow(2)).toThrow(RangeError);
  });

  it("permits a table to grow up to its limit", async () => {
    const exported = [7, 9, 1, 5, ...Buffer.from("table"), 1, 0];
    const bytes = Uint8Array.from([...withSection(4, [1, 0x70, 0, 1]), ...exported]);
    const instance = new WebAssembly.Instance(await WebAssembly.compile(boundModule(bytes, 5)), {});
    const table = instance.exports["table"] as { grow(entries: number): number };
    expect(table.grow(199_999)).toBe(1);
    expect(() => table.grow(1)).toThrow(RangeError);
  });

  it("never writes a maximum above that of a 32-bit memory", async () => {
    await expect(memoryOf(boundModule(moduleWith([1, 0, 1]), 200_000))).resolves.toBeDefined();
  });

  it("accepts caps that are encoded in several bytes", async () => {
    const memory = await memoryOf(boundModule(moduleWith([1, 0, 1]), 300));
    expect(memory.grow(299)).toBe(1);
  });

  it.each([
    ["a file that is none", Buffer.from("not a module"), "is not a WebAssembly module"],
    ["a component", Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]), "is a component (WASI preview 2 or later)"],
    ["a component of a later version", Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0e, 0, 1, 0]), "wasm32-wasip1"],
    ["a module of version 2", Uint8Array.from([0, 0x61, 0x73, 0x6d, 2, 0, 0, 0]), "is not a WebAssembly module"],
    ["one that ends in the middle", Uint8Array.from([...HEADER, 5, 9, 1]), "ends too early"],
    ["a section without a size", Uint8Array.from([...HEADER, 5]), "ends too early"],
    [
      "a number without an end",
      Uint8Array.from([...HEADER, 5, 255, 255, 255, 255, 255, 255]),
      "integer encoded in too many bytes",
    ],
    [
      "one that needs more at its start",
      moduleWith([1, 0, 6]),
      "needs 6 pages of memory at its start, but at most 5 are allowed",
    ],
    ["two memories", moduleWith([2, 0, 1, 0, 1]), "more than one memory"],
    ["a shared memory", moduleWith([1, 3, 1, 2]), "shared, 64-bit or unusual pages of memory"],
    ["a 64-bit memory", moduleWith([1, 4, 1]), "shared, 64-bit or unusual pages of memory"],
    ["pages of another size", moduleWith([1, 8, 1, 0]), "unusual pages of memory"],
    ["very many tables", withSection(4, [5, ...[1, 2, 3, 4, 5].flatMap(() => [0x70, 0, 1])]), "more than 4 tables"],
    [
      "a table that begins too large",
      withSection(4, [1, 0x70, 0, 0xc1, 0x9a, 0x0c]),
      "entries of a table at its start",
    ],
    ["a table with initial values", withSection(4, [1, 0x40, 0, 0x70, 0, 1, 0xd0, 0x70, 0x0b]), "an unsupported type"],
    ["garbage-collected arrays", withSection(1, [1, 0x5e, 0x7f, 1]), "garbage-collected objects"],
    ["garbage-collected structures", withSection(1, [1, 0x5f, 0]), "garbage-collected objects"],
  ])("refuses %s", (_title, bytes, why) => {
    expect(() => boundModule(bytes, 5)).toThrow(expect.objectContaining({ code: "model_invalid", retryable: false }));
    expect(() => boundModule(bytes, 5)).toThrow(why);
  });

  it("throws only its own errors for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (tail) => {
        try {
          boundModule(Uint8Array.from([...HEADER, ...tail]), 5);
        } catch (error) {
          expect(error).toMatchObject({ name: "JobFailure", code: "model_invalid" });
        }
      }),
    );
  });
});
