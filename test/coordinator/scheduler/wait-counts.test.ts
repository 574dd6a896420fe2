import { expect, it } from "vitest";
import { Bench, makeCargo } from "./builders.ts";

const OTHERS = { peers: 2, running: 1, slots: 3, free: 0 };

it("waitsByReason() counts jobs as busy if only Islands of other coordinators run them", () => {
  const bench = new Bench([makeCargo(), makeCargo({ slug: "gemma" })]);
  for (const id of ["job_1", "job_2"]) bench.submit({ id });
  bench.submit({ id: "job_3", slug: "gemma" });
  const { scheduler } = bench;
  expect([...scheduler.waitsByReason(() => null)]).toEqual([["no_island_online", 3]]);
  const others = scheduler.waitsByReason(({ slug }) => (slug === "llama" ? OTHERS : { ...OTHERS, running: 0 }));
  expect(Object.fromEntries(others)).toEqual({ all_busy: 2, no_island_online: 1 });
});
