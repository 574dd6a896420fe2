import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, isRelative, readTree, resolve, type Import, type Tree } from "./support/import-graph.ts";

const ROOT = join(import.meta.dirname, "..");
const LAYERS = ["bin", "coordinator", "island-agent", "shared", "sdk"] as const;
type Layer = (typeof LAYERS)[number];

/** Allowed imports between the top folders. */
const ALLOWED: Record<Layer, readonly Layer[]> = {
  bin: ["bin", "coordinator", "island-agent", "shared"],
  coordinator: ["coordinator", "shared"],
  "island-agent": ["island-agent", "shared"],
  shared: ["shared"],
  // A separate package, installed without the product.
  sdk: ["sdk"],
};
/**
 * The folders and files of a program in groups, lowest first. Each group imports only from earlier groups, except for
 * {@link PEERS}. The linter reports cycles of files (`import/no-cycle`).
 */
const FOLDERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  coordinator: [
    ["credits"],
    ["store", "bus"],
    ["mail", "quotas", "scheduler"],
    ["config"],
    ["env.ts"],
    ["accounts", "catalog", "files", "webhooks", "retention"],
    ["recommendations", "checks"],
    ["jobs", "islands"],
    ["dispatch", "events"],
    ["audits", "conversations", "metrics", "tracing", "cluster"],
    ["operators"],
    ["http"],
    ["dialects"],
    ["core.ts", "parts.ts"],
    ["open-hosts.ts", "open-operators.ts"],
    ["coordinator.ts"],
  ],
  "island-agent": [
    ["disk"],
    ["hardware", "models", "availability", "service", "session"],
    ["config"],
    ["runtimes"],
    ["artifacts"],
    ["preload"],
    ["execution"],
    ["agent.ts"],
    ["control"],
    ["doctor"],
    ["cli"],
  ],
};
const PEERS = new Set(["island-agent/hardware -> island-agent/models"]);
const DIALECTS = "coordinator/dialects/";
/** Values of the core that dialects may import. */
const DIALECT_PORT = [
  "accounts/identity",
  "catalog/find-model",
  "catalog/model-kind",
  "http/error-responses",
  "http/middleware/body",
  "http/middleware/json-response",
  "http/multipart/read-form",
  "http/openai/parameters",
  "http/route-group",
  "http/schemas/chat-schemas",
  "http/schemas/given-fields",
  "http/schemas/model-facts",
  "http/schemas/offered-tools",
  "http/schemas/pagination",
  "http/schemas/responses",
  "http/schemas/trust-fields",
  "http/schemas/wire-units",
  "http/server/send-file",
  "http/streaming/awaited-chat",
  "http/streaming/chat-encoder",
  "http/streaming/map-with-concurrency",
  "http/streaming/request-context",
  "http/streaming/whole-output",
  "jobs/tool-calls",
  "jobs/until-feed",
  "quotas/account-limits",
  "store/files/file-batches",
  "store/files/files",
];
/** Pure code. The rule also applies to the values that it imports, directly or indirectly. */
const PURE_FOLDERS = ["shared/", "coordinator/scheduler/"];
/** Modules that pure code may import, because they use no sockets, files, processes or databases. */
const PURE_PACKAGES = new Set([
  "lru-cache",
  "zod",
  "fast-string-truncated-width",
  "ulid",
  "msgpackr",
  "smol-toml",
  "node:buffer",
  "node:crypto",
  "node:util",
]);
/** Functions of node:net that only compute on addresses. */
const PURE_NET_IMPORT = /^import \{ (?:(?:BlockList|isIP|type \w+)(?:, )?)+ \} from "node:net";$/gm;
/** Sources of the published client, which only needs fetch. */
const CLIENT_FOLDER = "sdk/typescript/src/";
const SQL_PACKAGES = new Set(["better-sqlite3", "node:sqlite", "pg", "postgres", "kysely", "knex", "mysql2"]);

const layerOf = (path: string): Layer | undefined => LAYERS.find((layer) => path.startsWith(`${layer}/`));

/**
 * Returns the package of a specifier: "zod" for "zod/v4", "@hono/node-server" for "@hono/node-server/x", "node:fs" for
 * "fs".
 */
function packageOf(to: string): string {
  if (to.startsWith("node:")) return to;
  return to
    .split("/")
    .slice(0, to.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Returns the imports that violate the rules, as "file -> import: rule". */
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

/** Returns imports against the order of the folders, including types, as "file -> file: rule". */
function findFolderBackEdges(tree: Tree): string[] {
  return [...tree].flatMap(([from, source]) =>
    importsOf(source).flatMap(({ to }) => {
      const target = to === null || !isRelative(to) ? null : resolve(from, to);
      const rule = target === null ? null : brokenOrder(from, target);
      return rule === null ? [] : [`${from} -> ${target}: ${rule}`];
    }),
  );
}

function brokenOrder(from: string, to: string): string | null {
  const [program = "", folder = ""] = from.split("/");
  const [targetProgram, target = ""] = to.split("/");
  const order = FOLDERS[program];
  if (order === undefined || targetProgram !== program || target === folder) return null;
  const place = order.findIndex((group) => group.includes(folder));
  const targetPlace = order.findIndex((group) => group.includes(target));
  if (place === -1 || targetPlace === -1) return `${place === -1 ? folder : target} has no place in the order`;
  if (targetPlace < place || PEERS.has(`${program}/${folder} -> ${program}/${target}`)) return null;
  return `${folder} must not import ${target}`;
}

/**
 * Returns imports of a dialect from outside, and its imports of core outside {@link DIALECT_PORT}, as "file -> file:
 * rule".
 */
function findDialectFaults(tree: Tree): string[] {
  return [...tree].flatMap(([from, source]) =>
    importsOf(source).flatMap(({ to, isTypeOnly }) => {
      const target = to === null || !isRelative(to) ? null : resolve(from, to);
      const rule = target === null ? null : brokenDialect(from, target, isTypeOnly);
      return rule === null ? [] : [`${from} -> ${target}: ${rule}`];
    }),
  );
}

function brokenDialect(from: string, to: string, isTypeOnly: boolean): string | null {
  const [own, other] = [from, to].map((path) => (path.startsWith(DIALECTS) ? path.split("/")[2] : undefined));
  if (own === undefined) {
    const isCore = /^coordinator\/.*\//.test(from);
    return isCore && other !== undefined ? "the core knows no dialect" : null;
  }
  // This file lists all dialects.
  if (own === "dialects.ts") return null;
  if (other !== undefined) return own === other ? null : "no dialect knows another";
  const isOfPort = DIALECT_PORT.some((path) => to.replace(/\.ts$/, "") === `coordinator/${path}`);
  return isTypeOnly || isOfPort || !to.startsWith("coordinator/") ? null : "not in the port of dialects";
}

/** Returns cycles among imports without a file extension, which the linter ignores, as "file -> … -> file". */
function findCircles(tree: Tree): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
    else if (!done.has(path)) {
      for (const { to } of importsOf(tree.get(path) ?? "")) {
        if (to !== null && isRelative(to)) visit(`${resolve(path, to)}.ts`, [...trail, path]);
      }
      done.add(path);
    }
  };
  for (const path of tree.keys()) visit(path, []);
  return circles;
}

/** Returns the paths from pure code to forbidden imports, as "file -> … -> import". */
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

describe("the imports of the product", () => {
  const tree = readTree(ROOT, LAYERS);
  it("are all found", () => {
    expect(tree.size).toBeGreaterThan(20);
    expect(importsOf(tree.get("shared/protocol/from-island.ts") ?? "").length).toBeGreaterThan(3);
  });
  it("point from bin to coordinator and island-agent, and from these to shared, never back", () => {
    expect(findBackEdges(tree)).toEqual([]);
  });
  it("follow the order of the folders inside coordinator and island-agent", () => {
    expect(findFolderBackEdges(tree)).toEqual([]);
  });
  it("keep dialects independent of each other, and limit them to their port", () => {
    expect(findDialectFaults(tree)).toEqual([]);
  });
  it("give shared and the scheduler no sockets, files, processes or databases", () => {
    expect(findImpurities(tree)).toEqual([]);
  });
  it("name the transport uws only in its folder, its port and the settings", () => {
    const naming = [...tree].filter(
      ([path, source]) =>
        path.startsWith("coordinator/") &&
        !path.startsWith("coordinator/http/server/uws/") &&
        /uws|uwebsockets/i.test(source),
    );
    expect(naming.map(([path]) => path)).toEqual([
      "coordinator/config/resolve-config.ts",
      "coordinator/http/server/transport.ts",
    ]);
    const port = tree.get("coordinator/http/server/transport.ts") ?? "";
    expect(port.match(/.*uws\/.*/g)).toEqual(['  uws: () => import("./uws/uws-listener.ts"),']);
  });
});

describe("the imports of the wasm programs", () => {
  it("contain no cycles", () => {
    const tree = readTree(ROOT, ["catalog/wasm"]);
    expect(tree.size).toBeGreaterThan(20);
    expect(findCircles(tree)).toEqual([]);
  });
  it("are reported if they contain cycles", () => {
    const tree = new Map([
      ["a.ts", 'import { b } from "./b";'],
      ["b.ts", 'import { c } from "./c";'],
      ["c.ts", 'import { b } from "./b";'],
    ]);
    expect(findCircles(tree)).toEqual(["b.ts -> c.ts -> b.ts"]);
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
  ])("finds the imports of %j", (source, imports) => {
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
  it("nothing for allowed imports", () => {
    const allowed = new Map([
      ["bin/a.ts", 'import "../coordinator/b.ts"; \nimport "../island-agent/b.ts";\nimport "./demo.ts";'],
      ["coordinator/store/sqlite/a.ts", 'import Database from "better-sqlite3";\nimport "../../../shared/b.ts";'],
    ]);
    expect(findBackEdges(allowed)).toEqual([]);
  });
});

describe("findFolderBackEdges() reports", () => {
  it.each([
    ["coordinator/jobs/a.ts", 'import type { B } from "../islands/b.ts";', "jobs must not import islands"],
    ["coordinator/islands/a.ts", 'import { b } from "../jobs/b.ts";', "islands must not import jobs"],
    ["coordinator/store/sqlite/jobs/a.ts", 'import "../../../http/b.ts";', "store must not import http"],
    ["coordinator/http/a.ts", 'import { open } from "../coordinator.ts";', "http must not import coordinator.ts"],
    ["coordinator/new/a.ts", 'import "../store/b.ts";', "new has no place in the order"],
    ["island-agent/models/a.ts", 'export * from "../hardware/b.ts";', "models must not import hardware"],
    ["island-agent/session/a.ts", 'import { type B } from "../config/b.ts";', "session must not import config"],
    ["island-agent/execution/a.ts", 'await import("../agent.ts");', "execution must not import agent.ts"],
  ])("%s: %s", (path, source, rule) => {
    expect(findFolderBackEdges(new Map([[path, source]]))).toEqual([expect.stringMatching(`: ${rule}$`)]);
  });
  it("nothing for allowed imports", () => {
    const allowed = new Map([
      ["coordinator/http/a.ts", 'import "../jobs/b.ts";\nimport "./c.ts";\nimport "../../shared/d.ts";'],
      ["coordinator/coordinator.ts", 'import "./http/a.ts";'],
      ["island-agent/hardware/a.ts", 'import "../models/b.ts";'],
    ]);
    expect(findFolderBackEdges(allowed)).toEqual([]);
  });
});

describe("findDialectFaults() reports", () => {
  it.each([
    ["coordinator/http/a.ts", 'import type { B } from "../dialects/rerank/b.ts";', "the core knows no dialect"],
    ["coordinator/jobs/a/b.ts", 'import { c } from "../../dialects/dialects.ts";', "the core knows no dialect"],
    ["coordinator/dialects/a/b.ts", 'import type { D } from "../c/d.ts";', "no dialect knows another"],
    ["coordinator/dialects/a/b.ts", 'import { c } from "../dialects.ts";', "no dialect knows another"],
    ["coordinator/dialects/a/b.ts", 'import { c } from "../../jobs/feed.ts";', "not in the port of dialects"],
  ])("%s: %s", (path, source, rule) => {
    expect(findDialectFaults(new Map([[path, source]]))).toEqual([expect.stringMatching(`: ${rule}$`)]);
  });
  it("nothing for allowed imports", () => {
    const allowed = new Map([
      ["coordinator/coordinator.ts", 'import { a } from "./dialects/dialects.ts";'],
      ["coordinator/dialects/dialects.ts", 'import "./a/b.ts";\nimport "./c/d.ts";\nimport "../http/routes/e.ts";'],
      [
        "coordinator/dialects/a/b.ts",
        'import "./c.ts";\nimport "../../http/route-group.ts";\nimport "../../../shared/d.ts";',
      ],
      ["coordinator/dialects/a/d.ts", 'import type { B } from "../../jobs/feed.ts";'],
    ]);
    expect(findDialectFaults(allowed)).toEqual([]);
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
  it("indirect imports, but not imports of types only", () => {
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
  it("an import of a computed specifier", () => {
    expect(findImpurities(new Map([["shared/a.ts", "await import(name);"]]))).toEqual([
      "shared/a.ts -> import(computed)",
    ]);
  });
});
