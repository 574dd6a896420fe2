import { expect, it } from "vitest";
import { runScenario, runSeed } from "./run-seed.ts";
import { SimulatedDatabase } from "./simulated-database.ts";

const database = new SimulatedDatabase();

it.each([1, 2, 3, 77, 4_711])("seed %i produces the same history each time, even in a new database", async (seed) => {
  const first = await runSeed(seed, database);
  const again = await runSeed(seed, new SimulatedDatabase());
  expect(first.history.length).toBeGreaterThan(50);
  expect(again.history.join("\n")).toBe(first.history.join("\n"));
});

it("runScenario() reproduces the history of a seed from its steps", async () => {
  const seeded = await runSeed(5, database);
  const { history } = await runScenario(seeded, database);
  expect(history).toEqual(seeded.history);
});
