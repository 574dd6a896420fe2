import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTree, type Tree } from "../support/import-graph.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Classes with state that only their own folder changes. Other code gets views, and may not name the class, as a type either. */
const OWNED: Readonly<Record<string, readonly string[]>> = {
  "coordinator/jobs/": ["MutableJob", "ActiveJobs", "JobFeed"],
  "coordinator/islands/": ["Island"],
  "coordinator/conversations/": ["ActiveAnswer"],
};

/** Imports of a class from outside the folder that owns it, as "file: class". */
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

describe("jobs, Islands and answers", () => {
  const tree = readTree(ROOT, ["coordinator", "bin"]);
  it.each(Object.entries(OWNED))("of %s have their classes there: %j", (folder, classes) => {
    const inside = [...tree].filter(([path]) => path.startsWith(folder)).map(([, source]) => source);
    const missing = classes.filter((name) => !inside.some((source) => source.includes(`export class ${name} `)));
    expect(missing).toEqual([]);
  });
  it("are changed by the folder that owns them and by no other", () => {
    expect(findBorrowed(tree)).toEqual([]);
  });
});

describe("findBorrowed() reports", () => {
  it.each([
    [
      "coordinator/dispatch/a.ts",
      'import {\n  type AttemptId,\n  type Island,\n} from "../islands/island.ts";',
      "Island",
    ],
    ["coordinator/http/a.ts", 'import type { JobFeed as Feed } from "../jobs/feed.ts";', "JobFeed"],
    ["coordinator/metrics/a.ts", 'export { MutableJob } from "../jobs/mutable-job.ts";', "MutableJob"],
  ])("%s: %s", (path, source, name) => {
    expect(findBorrowed(new Map([[path, source]]))).toEqual([`${path}: ${name}`]);
  });
  it("nothing for views, and inside the owner", () => {
    const allowed = new Map([
      ["coordinator/dispatch/a.ts", 'import type { IslandView } from "../islands/island.ts";'],
      ["coordinator/islands/a.ts", 'import { Island } from "./island.ts";'],
    ]);
    expect(findBorrowed(allowed)).toEqual([]);
  });
});
