import { expect, it } from "vitest";
import { runScenario, runSeed } from "./run-seed.ts";
import { SimulatedDatabase } from "./simulated-database.ts";

const database = new SimulatedDatabase();

it.each([1, 2, 3, 77, 4_711])("seed %i has the same history each time, also in a new database", async (seed) => {
  const first = await runSeed(seed, database);
  const again = await runSeed(seed, new SimulatedDatabase());
  expect(first.history.length).toBeGreaterThan(50);
  expect(again.history.join("\n")).toBe(first.history.join("\n"));
});

it("runScenario() with the steps of a seed comes to the history of the seed", async () => {
  const seeded = await runSeed(5, database);
  const { history } = await runScenario(seeded, database);
  expect(history).toEqual(seeded.history);
});

it("200 seeds come to every kind of end, to lost positions, and to a disk that is full", async () => {
  const told = new Set<string>();
  for (let seed = 1; seed <= 60; seed += 1) {
    for (const line of (await runSeed(seed, database)).history) told.add(line.replaceAll(/\d+/g, "N").trim());
  }
  const all = [...told].join("\n");
  for (const what of [
    "position_lost",
    "storage_unavailable",
    "reader N: done",
    "reader N: error",
    "gets finished",
    "gets refused",
  ]) {
    expect(all).toContain(what);
  }
});
