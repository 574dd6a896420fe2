import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const architecture = read("ARCHITECTURE.md");

/** Returns files and folders in backticks, and link targets. */
const pathsIn = (text: string): string[] => [
  ...[...text.matchAll(/`([\w@.-]+(?:\/[\w@.-]+)*(?:\.(?:ts|tsx|toml|json|yml|md)|\/))`/g)].map(
    ([, path = ""]) => path,
  ),
  ...[...text.matchAll(/\]\((?!\w+:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path = ""]) => path),
];

/** Returns the paths that exist neither in `folder` nor in the root. */
const missing = (text: string, folder: string): string[] =>
  pathsIn(text).filter((path) => !existsSync(join(ROOT, folder, path)) && !existsSync(join(ROOT, path)));

/** Returns the section "Where to change what" of each README, by the README's path. */
const tables = globSync("**/README.md", { cwd: ROOT, exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(path) })
  .toSorted()
  .flatMap((path) => {
    const [, section] = /^## Where to change what\n([^]*?)(?=^## |$(?![^]))/m.exec(read(path)) ?? [];
    return section === undefined ? [] : [{ path, section }];
  });

describe("ARCHITECTURE.md", () => {
  it("has at most 1,200 words", () => {
    expect(architecture.trim().split(/\s+/).length).toBeLessThanOrEqual(1_200);
  });

  it("names only files and folders that exist", () => {
    expect(pathsIn(architecture).length).toBeGreaterThan(90);
    expect(missing(architecture, "")).toEqual([]);
  });

  it("names every folder of the two programs", () => {
    const folders = globSync(["coordinator/*/", "island-agent/*/"], { cwd: ROOT }).map(
      (path) => `${path.replace(/\/$/, "")}/`,
    );
    const named = new Set(pathsIn(architecture));
    expect(folders.length).toBeGreaterThan(30);
    expect(folders.filter((path) => !named.has(path))).toEqual([]);
  });

  it("names every package that package.json depends on", () => {
    const folders = ["", "sdk/typescript/", "web/", "bench/gateways/", "bench/queues/"];
    const packages = folders
      .map((folder) => `${folder}package.json`)
      .map((path) => JSON.parse(read(path)) as Record<string, Record<string, string> | undefined>)
      .flatMap(({ dependencies, devDependencies }) => [
        ...Object.keys(dependencies ?? {}),
        ...Object.keys(devDependencies ?? {}),
      ])
      .filter((name) => !name.startsWith("@types/") && !name.startsWith("@opentelemetry/") && name !== "@atoll/client");
    expect(packages.length).toBeGreaterThan(50);
    expect(packages.filter((name) => !architecture.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the tables "Where to change what"', () => {
  it("are in the READMEs of their folders", () => {
    expect(tables.length).toBeGreaterThan(25);
  });

  it.each(tables)("$path names only files and folders that exist", ({ path, section }) => {
    expect(section).toMatch(/^\| Change \| Place \|$/m);
    expect(missing(section, dirname(path))).toEqual([]);
  });
});
