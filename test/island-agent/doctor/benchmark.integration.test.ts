import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { keepBenchmark, readBenchmark } from "../../../island-agent/doctor/benchmark.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { temporaryFolder } from "../../coordinator/store/contract/store-builders.ts";

it("keeps the speed of a large model for the agent, and ignores small models and damaged files", async () => {
  using folder = temporaryFolder();
  const model = join(folder.path, "model.gguf");
  await writeFile(model, "");
  await truncate(model, 50 * MIB);
  const rate = { tokensPerSecond: 20, model: "model.gguf" };
  await keepBenchmark(folder.path, model, rate);
  expect(await readBenchmark(folder.path)).toBeUndefined();
  await truncate(model, 200 * MIB);
  await keepBenchmark(folder.path, model, { problem: "the runtime is not usable" });
  expect(await readBenchmark(folder.path)).toBeUndefined();
  await keepBenchmark(folder.path, model, rate);
  expect(await readBenchmark(folder.path)).toEqual({ modelBytesPerMs: 4 * MIB });
  await writeFile(join(folder.path, "benchmark.json"), '{"modelBytesPerMs":-1}');
  expect(await readBenchmark(folder.path)).toBeUndefined();
  await writeFile(join(folder.path, "benchmark.json"), "damaged");
  expect(await readBenchmark(folder.path)).toBeUndefined();
});
