import { expect, it } from "vitest";
import { describeReview } from "../../../bin/main/coordinator/describe-cargo.ts";
import type { CargoFile } from "../../../coordinator/catalog/cargo-fields.ts";
import { readCargo } from "../../../coordinator/catalog/cargo-file.ts";
import { CONTAINER_FILE } from "./cargo-builders.ts";

function describe(change: Partial<CargoFile>): string {
  const read = readCargo({ ...CONTAINER_FILE, ...change });
  if ("errors" in read) throw new Error(JSON.stringify(read.errors));
  const facts = { status: "waiting", origin: "owned", ownerId: "user_1", storedRevision: 1, approval: null } as const;
  return describeReview(
    { file: read.file, revision: "0", price: read.file.price_per_job, ...facts },
    "owner@example.com",
  );
}

it("describeCargo() escapes texts of an owner, so that they cannot forge or hide a line of the review", () => {
  const description = "Tool\n  network     no\u001b[8m\u202e\u2028end";
  const text = describe({ description });
  expect(text.split("\n")).toHaveLength(describe({}).split("\n").length);
  expect(text).toContain("Tool\\u{a}  network     no\\u{1b}[8m\\u{202e}\\u{2028}end");
});

it("describeCargo() shows every limit that the Cargo sets", () => {
  expect(describe({ accept_limit_s: 600, silence_limit_s: 90, max_output_bytes: 1_000 })).toContain(
    "accept 600 s, silence 90 s, output 1000 bytes",
  );
});
