import { expect, it } from "vitest";
import { GatheredBytes } from "../../../shared/async/gathered-bytes.ts";

it("GatheredBytes keeps no chunk after the first, because eight million chunks of one byte would take 1.2 GB", () => {
  const gathered = new GatheredBytes();
  const bytes = Buffer.from("é".repeat(5_000));
  gathered.add(bytes.subarray(0, 1));
  // All chunks use the same buffer, so a kept chunk would have the last byte.
  const chunk = Buffer.alloc(1);
  for (const byte of bytes.subarray(1)) {
    chunk[0] = byte;
    gathered.add(chunk);
  }
  expect(gathered.length).toBe(bytes.length);
  expect(gathered.bytes.equals(bytes)).toBe(true);
});

it("GatheredBytes accepts no chunks, and chunks of any size", () => {
  const gathered = new GatheredBytes();
  expect(gathered.bytes.length).toBe(0);
  for (const text of ["", "a", "", "bcd", "e".repeat(100)]) gathered.add(Buffer.from(text));
  expect(gathered.bytes.toString()).toBe(`abcd${"e".repeat(100)}`);
});
