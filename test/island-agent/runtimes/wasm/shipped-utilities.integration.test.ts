import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cargoOf } from "../../../../coordinator/catalog/cargo-file.ts";
import { readShippedCargos } from "../../../../coordinator/catalog/load-catalog.ts";
import { wasmRuntime } from "../../../../island-agent/runtimes/wasm/wasm-runtime.ts";
import { manifestOf } from "../../../../shared/cargo.ts";
import { systemClock } from "../../../../shared/clock.ts";

const CATALOG = join(import.meta.dirname, "..", "..", "..", "..", "catalog");
const NEVER = new AbortController().signal;
const runtime = wasmRuntime({ threads: 1, clock: systemClock });
const utilities = (await readShippedCargos(CATALOG, { chat: "tiny-chat" }))
  .map(cargoOf)
  .filter(({ runtimeType, model }) => runtimeType === "wasm" && model?.url.startsWith("/models/") === true);

describe("the shipped utilities on the real runtime", () => {
  it("are at least eight", () => {
    expect(utilities.length).toBeGreaterThanOrEqual(8);
  });

  it.each(utilities.map((cargo) => [cargo.slug, cargo] as const))(
    "return a result for the example of %s",
    async (_slug, cargo) => {
      await using loaded = await runtime.load(manifestOf(cargo), join(CATALOG, cargo.model?.url ?? ""), NEVER);
      const result = await loaded.run({ input: cargo.exampleInput, resume: null }, () => undefined, NEVER);
      expect(result.output).toBeDefined();
    },
  );
});
