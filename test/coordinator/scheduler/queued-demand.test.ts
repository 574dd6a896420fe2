import { describe, expect, it } from "vitest";
import { Bench, makeCargo } from "./builders.ts";

describe("queuedDemand()", () => {
  it("counts waiting jobs by slug, and omits Cargos without any", () => {
    const bench = new Bench([makeCargo(), makeCargo({ slug: "gemma" })]);
    bench.submit({ id: "job_1" });
    bench.submit({ id: "job_2" });
    bench.submit({ id: "job_3", slug: "gemma" });
    bench.cancel("job_3");
    expect([...bench.scheduler.queuedDemand()]).toEqual([["llama", 2]]);
  });
});

describe("the indices of many Cargos", () => {
  const cargos = Array.from({ length: 100 }, (_, index) => makeCargo({ slug: `cargo-${index}` }));

  it("are dropped when others are needed, and rebuilt on use", () => {
    const bench = new Bench(cargos);
    bench.up({ slots: 500 });
    for (const { slug } of cargos) bench.submit({ id: `first_${slug}`, slug });
    expect(bench.lookUps).toBe(100);
    bench.submit({ slug: "cargo-99" });
    expect(bench.lookUps).toBe(100);
    bench.down("isle-1");
    bench.up({ id: "isle-2", slots: 500 });
    expect(bench.submit({ slug: "cargo-0" })).toEqual(["job_1 on isle-2"]);
    expect(bench.lookUps).toBe(101);
  });

  it("are kept for Cargos with waiting jobs", () => {
    const bench = new Bench(cargos);
    bench.up({}, 1);
    for (const { slug } of cargos) bench.submit({ id: `job_${slug}`, slug });
    for (const { slug } of cargos.slice(1)) bench.cancel(`job_${slug}`);
    for (const { slug } of cargos.slice(1)) {
      bench.submit({ id: `more_${slug}`, slug });
      bench.cancel(`more_${slug}`);
    }
    expect(bench.free()).toEqual(["job_cargo-0 on isle-1"]);
  });
});
