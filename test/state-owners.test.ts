import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, isRelative, readTree, resolve, type Tree } from "./support/import-graph.ts";

/** Files that contain owned state, each with the only files that may import it. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  "coordinator/jobs/writes/job-writes.ts": ["coordinator/jobs/job-registry.ts"],
  "coordinator/islands/mutable-island.ts": ["coordinator/islands/island-registry.ts"],
};

/** Returns imports of owned state by other files, including types, as "file -> file". */
function findForeignState(tree: Tree): string[] {
  return [...tree].flatMap(([from, source]) =>
    importsOf(source).flatMap(({ to }) => {
      const target = to === null || !isRelative(to) ? "" : resolve(from, to);
      const owners = OWNERS[target];
      return owners === undefined || owners.includes(from) ? [] : [`${from} -> ${target}`];
    }),
  );
}

/** Owned classes in the same file as their view. Code outside the folder may not import them, not even as a type. */
const OWNED: Readonly<Record<string, readonly string[]>> = {
  "coordinator/jobs/": ["JobFeed", "MutableJob"],
  "coordinator/conversations/": ["ActiveAnswer"],
};

/** Returns imports of an owned class from outside its folder, as "file: class". */
function findBorrowed(tree: Tree): string[] {
  return [...tree].flatMap(([path, source]) => {
    const names = importedNames(source);
    return Object.entries(OWNED).flatMap(([folder, classes]) =>
      path.startsWith(folder) ? [] : names.filter((name) => classes.includes(name)).map((name) => `${path}: ${name}`),
    );
  });
}

function importedNames(source: string): string[] {
  const lists = [...source.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from/gm)].map(([, list = ""]) => list);
  return lists.flatMap((list) =>
    list.split(",").map((name) =>
      name
        .trim()
        .replace(/^type /, "")
        .replace(/ as .*$/, ""),
    ),
  );
}

describe("the state of jobs and Islands", () => {
  const tree = readTree(join(import.meta.dirname, ".."), ["bin", "coordinator", "island-agent"]);
  it.each(Object.entries(OWNERS))("%s and its owners exist", (path, owners) => {
    for (const file of [path, ...owners]) expect(tree.has(file), file).toBe(true);
  });
  it.each(Object.entries(OWNED))("the classes of %s exist: %j", (folder, classes) => {
    const inside = [...tree].filter(([path]) => path.startsWith(folder)).map(([, source]) => source);
    const missing = classes.filter((name) => !inside.some((source) => source.includes(`export class ${name} `)));
    expect(missing).toEqual([]);
  });
  it("is imported by its owners only", () => {
    expect(findForeignState(tree)).toEqual([]);
    expect(findBorrowed(tree)).toEqual([]);
  });
});

describe("findForeignState() reports", () => {
  it.each([
    ["coordinator/dispatch/a.ts", "../jobs/writes/job-writes.ts"],
    ["coordinator/jobs/batches/batch-gate.ts", "../writes/job-writes.ts"],
    ["coordinator/islands/session/session.ts", "../mutable-island.ts"],
  ])("%s -> %s", (path, to) => {
    const tree = new Map([[path, `import type { A } from "${to}";`]]);
    expect(findForeignState(tree)).toEqual([expect.stringMatching(`^${path} -> `)]);
  });
  it("nothing for the owner", () => {
    const source = 'import { MutableIsland } from "./mutable-island.ts";';
    expect(findForeignState(new Map([["coordinator/islands/island-registry.ts", source]]))).toEqual([]);
  });
});

describe("findBorrowed() reports", () => {
  it.each([
    [
      "coordinator/dispatch/a.ts",
      'import {\n  type FeedEnding,\n  type JobFeed,\n} from "../jobs/feed.ts";',
      "JobFeed",
    ],
    ["coordinator/http/a.ts", 'import type { JobFeed as Feed } from "../jobs/feed.ts";', "JobFeed"],
    ["coordinator/metrics/a.ts", 'export { ActiveAnswer } from "../conversations/active-answer.ts";', "ActiveAnswer"],
  ])("%s: %s", (path, source, name) => {
    expect(findBorrowed(new Map([[path, source]]))).toEqual([`${path}: ${name}`]);
  });
  it("nothing for views, and inside the owner", () => {
    const allowed = new Map([
      ["coordinator/dispatch/a.ts", 'import type { Feed } from "../jobs/feed.ts";'],
      ["coordinator/jobs/a.ts", 'import { JobFeed } from "./feed.ts";'],
    ]);
    expect(findBorrowed(allowed)).toEqual([]);
  });
});
