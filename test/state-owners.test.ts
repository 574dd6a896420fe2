import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, isRelative, readTree, resolve, type Tree } from "./support/import-graph.ts";

/** State with one owner, and the only files that may import it. All other code has views and commands. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  "coordinator/jobs/active-jobs.ts": ["coordinator/jobs/job-registry.ts", "coordinator/jobs/job-attempts.ts"],
  "coordinator/jobs/mutable-job.ts": [
    "coordinator/jobs/active-jobs.ts",
    "coordinator/jobs/job-registry.ts",
    "coordinator/jobs/job-attempts.ts",
  ],
  "coordinator/islands/mutable-island.ts": ["coordinator/islands/island-registry.ts"],
};

/** Imports of an owner's state by other files, types included, as "file -> file". */
function findForeignState(tree: Tree): string[] {
  return [...tree].flatMap(([from, source]) =>
    importsOf(source).flatMap(({ to }) => {
      const target = to === null || !isRelative(to) ? "" : resolve(from, to);
      const owners = OWNERS[target];
      return owners === undefined || owners.includes(from) ? [] : [`${from} -> ${target}`];
    }),
  );
}

describe("the state of jobs and Islands", () => {
  const tree = readTree(join(import.meta.dirname, ".."), ["bin", "coordinator", "island-agent"]);
  it.each(Object.entries(OWNERS))("%s and its owners are there", (path, owners) => {
    for (const file of [path, ...owners]) expect(tree.has(file), file).toBe(true);
  });
  it("is imported by its owners only", () => {
    expect(findForeignState(tree)).toEqual([]);
  });
});

describe("findForeignState() reports", () => {
  it.each([
    ["coordinator/dispatch/a.ts", "../jobs/mutable-job.ts"],
    ["coordinator/jobs/batch-gate.ts", "./active-jobs.ts"],
    ["coordinator/islands/session.ts", "./mutable-island.ts"],
  ])("%s -> %s", (path, to) => {
    const tree = new Map([[path, `import type { A } from "${to}";`]]);
    expect(findForeignState(tree)).toEqual([expect.stringMatching(`^${path} -> `)]);
  });
  it("nothing for the owner", () => {
    const source = 'import { MutableIsland } from "./mutable-island.ts";';
    expect(findForeignState(new Map([["coordinator/islands/island-registry.ts", source]]))).toEqual([]);
  });
});
