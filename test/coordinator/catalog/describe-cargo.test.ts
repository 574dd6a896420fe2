import { expect, it } from "vitest";
import { describeReview } from "../../../bin/main/coordinator/describe-cargo.ts";
import type { CargoFile } from "../../../coordinator/catalog/cargo-fields.ts";
import { readCargo } from "../../../coordinator/catalog/cargo-file.ts";
import { CONTAINER_FILE } from "./cargo-builders.ts";

const ENGINE_FILE = {
  slug: "qwen3",
  name: "Qwen 3",
  description: "A chat model",
  category: "llm",
  runtime_type: "engine",
  licence: "Apache-2.0",
  price_per_job: 0.01,
  required_ram_mb: 0,
  required_vram_mb: 0,
  context_tokens: 4_096,
  example_input: { prompt: "Hello" },
};

function describe(change: Partial<CargoFile>, base: object = CONTAINER_FILE): string {
  const read = readCargo({ ...base, ...change });
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

it("describeCargo() says that a declared model is not proved, and asks no pin of an engine's model", () => {
  const model = (url: string): Partial<CargoFile> => ({ model: { url, sha256: null, size_bytes: null } });
  const declared = describe({ slug: "declared-qwen3", ...model("engine:qwen3:8b") }, ENGINE_FILE);
  expect(declared).toContain("DECLARED: nothing proves which model engines run, not even an approval");
  const proved = describe(model(`hf:Qwen/Qwen3-8B#${"ab".repeat(20)}`), ENGINE_FILE);
  expect(`${declared}${proved}`).not.toContain("NOT PINNED");
  expect(proved).not.toContain("DECLARED");
});
