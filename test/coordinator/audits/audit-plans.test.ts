import { describe, expect, it } from "vitest";
import { auditKindOf } from "../../../coordinator/audits/audit-kinds.ts";
import { planAudits } from "../../../coordinator/audits/audit-plans.ts";
import type { CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import { NEW_STANDING, type Standing } from "../../../coordinator/credits/standing.ts";
import type { ActiveJob } from "../../../coordinator/jobs/active-job.ts";
import { NO_TERMS } from "../../../coordinator/credits/trust.ts";
import { traitsOf } from "../../../coordinator/jobs/job-traits.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { seededRandom } from "./made-readings.ts";

const makeCargo = (more: Partial<CatalogEntry> = {}): CatalogEntry => {
  return { slug: "base64", runtimeType: "wasm", isChat: false, onnxTaskType: null, ...more } as CatalogEntry;
};

function makeJob(more: object = {}, input: object = { data: "a" }): ActiveJob {
  return {
    slug: "base64",
    accountId: "client",
    earner: { islandId: "island", accountId: "owner" },
    state: "completed",
    outputBytes: 10,
    onlyIslandsOf: null,
    feed: { tokens: 0, hasText: false },
    prompt: null,
    traits: traitsOf({ ...input }, makeCargo({ inputSchema: FILE_SCHEMA }), 0, "client"),
    terms: NO_TERMS,
    ...more,
  } as unknown as ActiveJob;
}
const FILE_SCHEMA = { type: "object", properties: { data: { type: "string", maxLength: 10 * MIB } } };

const PROVEN: Standing = { ...NEW_STANDING, state: "proven", streak: 10_000 };

function makePlan({ standing = NEW_STANDING, cargo = makeCargo(), isSeeded = true, random = (): number => 0 } = {}) {
  const readers = { exists: () => true, hasFeature: () => isSeeded };
  return planAudits({ of: () => standing }, readers, () => cargo, 0.03, random);
}

describe("auditKindOf()", () => {
  it.each<[Partial<CatalogEntry>, string | null]>([
    [{ runtimeType: "wasm" }, "repeat"],
    [{ runtimeType: "diffusers" }, "repeat"],
    [{ runtimeType: "onnx", onnxTaskType: "feature-extraction" }, "repeat"],
    [{ runtimeType: "onnx" }, "repeat"],
    [{ runtimeType: "onnx", onnxTaskType: "text-to-speech" }, null],
    [{ runtimeType: "llmcpp", task: "text-ranking" }, "repeat"],
    [{ runtimeType: "llmcpp", isChat: true }, "read"],
    [{ runtimeType: "llmcpp", isChat: true, reasoning: true }, null],
    [{ runtimeType: "engine", isChat: true }, null],
    [{ runtimeType: "container" }, null],
    [{ runtimeType: "coreml" }, null],
    [{ runtimeType: "wasm", privateTo: "client" }, null],
  ])("of %j is %j", (cargo, kind) => {
    expect(auditKindOf(makeCargo(cargo))).toBe(kind);
  });
});

describe("the plan for jobs that can be repeated", () => {
  it("audits each job of a new owner", () => {
    expect(makePlan()(makeJob())).toBe("due");
  });

  it("audits at most the share of a proven owner's jobs, and some of them", () => {
    const plan = makePlan({ standing: { ...PROVEN, streak: 10 }, random: seededRandom(2) });
    const due = Array.from({ length: 10_000 }, () => plan(makeJob())).filter((each) => each === "due").length;
    // An audit of the least chance may come before its share has been saved.
    expect(due).toBeLessThanOrEqual(303);
    expect(due).toBeGreaterThanOrEqual(290);
    const rare = makePlan({ standing: PROVEN, random: seededRandom(2) });
    const few = Array.from({ length: 10_000 }, () => rare(makeJob())).filter((each) => each === "due").length;
    expect(few / 10_000).toBeCloseTo(0.02, 2);
  });

  it.each<[string, ActiveJob]>([
    ["failed jobs", makeJob({ state: "failed" })],
    ["large inputs", makeJob({}, { data: "a".repeat(4 * MIB) })],
    ["uploaded files", makeJob({}, { data: { file_id: "file_01M7Y6T2SYFXJXMX4DSGXD7N6Z" } })],
    ["repeats", makeJob({ onlyIslandsOf: "owner" })],
    ["jobs whose input was not read", makeJob({ traits: null })],
  ])("does not audit %s", (_, job) => {
    expect(makePlan()(job)).toBe("none");
  });

  it("holds earnings of results that are too large to be repeated, because their Island chose the size", () => {
    expect(makePlan()(makeJob({ outputBytes: 4 * MIB + 1 }))).toBe("unclear");
  });

  it("audits 2 % of a proven owner's jobs even if others use up the share", () => {
    let standing = PROVEN;
    const readers = { exists: () => true, hasFeature: () => true };
    const plan = planAudits({ of: () => standing }, readers, () => makeCargo(), 0.03, seededRandom(2));
    let due = 0;
    for (let count = 0; count < 10_000; count += 1) {
      standing = { ...PROVEN, streak: 10 };
      for (let other = 0; other < 9; other += 1) plan(makeJob());
      standing = PROVEN;
      if (plan(makeJob()) === "due") due += 1;
    }
    expect(due / 10_000).toBeCloseTo(0.02, 2);
  });

  it("audits 2 % of the jobs of an owner whose audits stay unclear, and holds the others", () => {
    const standing: Standing = { ...NEW_STANDING, unclear: 20 };
    const plan = makePlan({ standing, random: seededRandom(2) });
    const plans = Array.from({ length: 10_000 }, () => plan(makeJob()));
    const due = plans.filter((each) => each === "due").length;
    expect(due / 10_000).toBeCloseTo(0.02, 2);
    expect(plans.filter((each) => each === "unclear")).toHaveLength(10_000 - due);
  });

  it("audits interpreters only if the Island's agent seeds them", () => {
    const cargo = makeCargo({ args: ["-c"] });
    expect(makePlan({ cargo })(makeJob())).toBe("due");
    expect(makePlan({ cargo, isSeeded: false })(makeJob())).toBe("none");
    expect(makePlan({ isSeeded: false })(makeJob())).toBe("due");
  });

  it("pays owners of containers at once", () => {
    expect(makePlan({ cargo: makeCargo({ runtimeType: "container" }) })(makeJob())).toBeNull();
  });
});
