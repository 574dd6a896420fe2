import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LAYERS = ["bin", "coordinator", "island-agent", "shared", "sdk"] as const;
type Layer = (typeof LAYERS)[number];

/** Who may import whom. Source: DESIGN §2. */
const ALLOWED: Record<Layer, readonly Layer[]> = {
  bin: ["bin", "coordinator", "island-agent", "shared"],
  coordinator: ["coordinator", "shared"],
  "island-agent": ["island-agent", "shared"],
  shared: ["shared"],
  // A package of its own, that others install without the product.
  sdk: ["sdk"],
};
/** Code that decides and does not act. What it imports as a value, and what that imports, is held to the same. */
const PURE_FOLDERS = ["shared/", "coordinator/scheduler/"];
/** What pure code may import from outside: no socket, file, process or database. */
const PURE_PACKAGES = new Set([
  "lru-cache",
  "zod",
  "ulid",
  "msgpackr",
  "smol-toml",
  "node:buffer",
  "node:crypto",
  "node:util",
]);
/** Of node:net, what only computes on addresses. */
const PURE_NET_IMPORT = /^import \{ (?:(?:BlockList|isIP|type \w+)(?:, )?)+ \} from "node:net";$/gm;
/** What is published as the client: it runs wherever there is fetch, and depends on nothing. */
const CLIENT_FOLDER = "sdk/typescript/src/";
const SQL_PACKAGES = new Set(["better-sqlite3", "node:sqlite", "pg", "postgres", "kysely", "knex", "mysql2"]);

interface Import {
  /** As written; null for a dynamic import of something computed. */
  readonly to: string | null;
  readonly isTypeOnly: boolean;
}
/** Sources by path from the root, with forward slashes. */
type Tree = ReadonlyMap<string, string>;

/** Statements at the start of a line, as the formatter writes them, and dynamic imports anywhere outside comments. */
function importsOf(source: string): Import[] {
  const code = source.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const found: Import[] = [];
  for (const [, type, clause, to] of code.matchAll(
    /^(?:import|export)\b(\s+type\b)?(?:([\w\s{},*$]*?)\bfrom)?\s*["']([^"']+)["']/gm,
  )) {
    const names = /^\s*\{([^}]*)\}\s*$/.exec(clause ?? "")?.[1]?.split(",") ?? [];
    const areTypes = names.length > 0 && names.every((name) => name.trim() === "" || /^\s*type\s/.test(name));
    found.push({ to: to ?? null, isTypeOnly: type !== undefined || areTypes });
  }
  for (const [, to] of code.matchAll(/\bimport\s*\(\s*(?:["'`]([^"'`$]+)["'`]\s*[,)])?/g)) {
    found.push({ to: to ?? null, isTypeOnly: false });
  }
  for (const [, to] of code.matchAll(/\b(?:require|getBuiltinModule)\s*\(\s*["']([^"']+)["']/g)) {
    found.push({ to: to ?? null, isTypeOnly: false });
  }
  return found;
}

const isRelative = (to: string): boolean => to.startsWith(".");
const resolve = (from: string, to: string): string => posix.join(posix.dirname(from), to);
const layerOf = (path: string): Layer | undefined => LAYERS.find((layer) => path.startsWith(`${layer}/`));

/** "zod" of "zod/v4", "@hono/node-server" of "@hono/node-server/x"; "fs" is "node:fs". */
function packageOf(to: string): string {
  if (to.startsWith("node:")) return to;
  return to
    .split("/")
    .slice(0, to.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Every import against the rules, as "file -> import: rule". */
function findBackEdges(tree: Tree): string[] {
  return [...tree].flatMap(([from, source]) =>
    importsOf(source).flatMap(({ to }) => {
      const rule = to === null ? null : brokenRule(from, to);
      return rule === null ? [] : [`${from} -> ${to}: ${rule}`];
    }),
  );
}

function brokenRule(from: string, to: string): string | null {
  if (!isRelative(to)) {
    if (from.startsWith(CLIENT_FOLDER)) return "the client depends on no package";
    const isSql = SQL_PACKAGES.has(packageOf(to)) && !from.startsWith("coordinator/store/");
    return isSql ? "SQL only in coordinator/store" : null;
  }
  const layer = layerOf(from);
  const target = layerOf(resolve(from, to));
  if (layer === undefined) return null;
  if (target === undefined) return `${layer} imports from outside the product`;
  return ALLOWED[layer].includes(target) ? null : `${layer} must not import ${target}`;
}

/** Ways by which pure code reaches what it must not, as "file -> … -> import". */
function findImpurities(tree: Tree): string[] {
  const impurities: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    for (const { to, isTypeOnly } of importsOf((tree.get(path) ?? "").replaceAll(PURE_NET_IMPORT, ""))) {
      if (isTypeOnly) continue;
      if (to === null) impurities.push([...trail, "import(computed)"].join(" -> "));
      else if (!isRelative(to)) {
        if (!PURE_PACKAGES.has(packageOf(to))) impurities.push([...trail, to].join(" -> "));
      } else {
        const next = resolve(path, to);
        if (!trail.includes(next) && !PURE_FOLDERS.some((folder) => next.startsWith(folder)))
          visit(next, [...trail, next]);
      }
    }
  };
  for (const path of tree.keys()) {
    if (PURE_FOLDERS.some((folder) => path.startsWith(folder))) visit(path, [path]);
  }
  return impurities;
}

function readTree(): Tree {
  const tree = new Map<string, string>();
  for (const layer of LAYERS) {
    for (const path of readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })) {
      if (!/\.[cm]?[jt]s$/.test(path) || /(^|[\\/])(node_modules|dist)[\\/]/.test(path)) continue;
      const name = posix.join(layer, path.replaceAll("\\", "/"));
      tree.set(name, readFileSync(join(ROOT, name), "utf8"));
    }
  }
  return tree;
}

describe("the imports of the product", () => {
  const tree = readTree();
  it("are all seen", () => {
    expect(tree.size).toBeGreaterThan(20);
    expect(importsOf(tree.get("shared/protocol/from-island.ts") ?? "").length).toBeGreaterThan(3);
  });
  it("point from bin to coordinator and island-agent, and from these to shared, never back", () => {
    expect(findBackEdges(tree)).toEqual([]);
  });
  it("give shared and the scheduler no socket, file, process or database", () => {
    expect(findImpurities(tree)).toEqual([]);
  });
});

describe("importsOf()", () => {
  it.each<[string, Import[]]>([
    ['import { a } from "./a.ts";', [{ to: "./a.ts", isTypeOnly: false }]],
    ['import a, { type B } from "./a.ts";', [{ to: "./a.ts", isTypeOnly: false }]],
    ['import {\n  a,\n  type B,\n} from "./a.ts";', [{ to: "./a.ts", isTypeOnly: false }]],
    ['import type { A } from "./a.ts";', [{ to: "./a.ts", isTypeOnly: true }]],
    ['import { type A, type B } from "./a.ts";', [{ to: "./a.ts", isTypeOnly: true }]],
    ['import "./a.ts";', [{ to: "./a.ts", isTypeOnly: false }]],
    ['import * as a from "./a.ts";', [{ to: "./a.ts", isTypeOnly: false }]],
    ['export * from "./a.ts";', [{ to: "./a.ts", isTypeOnly: false }]],
    ['export type { A } from "./a.ts";', [{ to: "./a.ts", isTypeOnly: true }]],
    ['const a = await import("./a.ts");', [{ to: "./a.ts", isTypeOnly: false }]],
    ["const a = await import(name);", [{ to: null, isTypeOnly: false }]],
    ['const a = require("node:fs");', [{ to: "node:fs", isTypeOnly: false }]],
    ['// import { a } from "./a.ts";', []],
    ['/**\n * import { a } from "./a.ts";\n */', []],
    ['export const a = "from";\nexport const b = "./a.ts";', []],
  ])("of %j", (source, imports) => {
    expect(importsOf(source)).toEqual(imports);
  });
});

describe("findBackEdges() reports", () => {
  it.each([
    ["coordinator/a.ts", 'import type { B } from "../island-agent/b.ts";', "coordinator must not import island-agent"],
    ["island-agent/a/b.ts", 'await import("../../coordinator/c.ts");', "island-agent must not import coordinator"],
    ["shared/a.ts", 'export * from "../coordinator/b.ts";', "shared must not import coordinator"],
    ["coordinator/a.ts", 'import "../bin/coordinator.ts";', "coordinator must not import bin"],
    ["shared/a.ts", 'import { b } from "../test/support/b.ts";', "shared imports from outside the product"],
    ["coordinator/http/a.ts", 'import Database from "better-sqlite3";', "SQL only in coordinator/store"],
    ["island-agent/a.ts", 'import pg from "pg/lib/client.js";', "SQL only in coordinator/store"],
    ["sdk/typescript/src/a.ts", 'import type { B } from "../../../shared/b.ts";', "sdk must not import shared"],
    ["sdk/typescript/src/a.ts", 'import { readFile } from "node:fs/promises";', "the client depends on no package"],
    ["coordinator/a.ts", 'import type { B } from "../sdk/typescript/src/b.ts";', "coordinator must not import sdk"],
  ])("%s: %s", (path, source, rule) => {
    expect(findBackEdges(new Map([[path, source]]))).toEqual([expect.stringMatching(`^${path} -> .*: ${rule}$`)]);
  });
  it("nothing for what is allowed", () => {
    const allowed = new Map([
      ["bin/a.ts", 'import "../coordinator/b.ts"; \nimport "../island-agent/b.ts";\nimport "./demo.ts";'],
      ["coordinator/store/sqlite/a.ts", 'import Database from "better-sqlite3";\nimport "../../../shared/b.ts";'],
    ]);
    expect(findBackEdges(allowed)).toEqual([]);
  });
});

describe("findImpurities() reports", () => {
  it.each([
    "node:fs",
    "node:fs/promises",
    "fs",
    "node:net",
    "node:child_process",
    "node:module",
    "ws",
    "better-sqlite3",
  ])("%s in shared and in the scheduler", (to) => {
    const source = `import { a } from "${to}";`;
    expect(findImpurities(new Map([["shared/a.ts", source]]))).toEqual([`shared/a.ts -> ${to}`]);
    expect(findImpurities(new Map([["coordinator/scheduler/a.ts", source]]))).toEqual([
      `coordinator/scheduler/a.ts -> ${to}`,
    ]);
  });
  it("what is reached through other code, but not through types alone", () => {
    const tree = new Map([
      ["coordinator/scheduler/a.ts", 'import { b } from "../store/b.ts";'],
      ["coordinator/scheduler/c.ts", 'import type { B } from "../store/b.ts";'],
      ["coordinator/store/b.ts", 'import { readFile } from "node:fs/promises";'],
    ]);
    expect(findImpurities(tree)).toEqual(["coordinator/scheduler/a.ts -> coordinator/store/b.ts -> node:fs/promises"]);
  });
  it("sockets of node:net, but not its arithmetic on addresses", () => {
    const impurities = (names: string): string[] =>
      findImpurities(new Map([["shared/a.ts", `import { ${names} } from "node:net";`]]));
    expect(impurities("BlockList, isIP, type LookupFunction")).toEqual([]);
    expect(impurities("BlockList, connect")).toEqual(["shared/a.ts -> node:net"]);
  });
  it("an import of something computed", () => {
    expect(findImpurities(new Map([["shared/a.ts", "await import(name);"]]))).toEqual([
      "shared/a.ts -> import(computed)",
    ]);
  });
});
