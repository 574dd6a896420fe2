import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FEATURES } from "./features.ts";

const DOCUMENT = join(import.meta.dirname, "..", "README.md");
const START = "<!-- clients:start -->";
const END = "<!-- clients:end -->";
/** The version of a package that a folder installs under another name. */
const ALIAS = /^npm:(.+)@(.+)$/;

/** The members of Vitest's JSON report that are read. */
export interface Report {
  readonly testResults: readonly {
    /** Path of the test file. */
    readonly name: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

/** Writes client × feature into test/clients/README.md. */
export function writeTable(report: Report): void {
  const page = readFileSync(DOCUMENT, "utf8");
  const [before, rest = ""] = page.split(START);
  const [, after] = rest.split(END);
  if (before === undefined || after === undefined) throw new Error(`${DOCUMENT} lacks ${START} or ${END}`);
  writeFileSync(DOCUMENT, `${before}${START}\n${tableOf(report)}${END}${after}`);
}

export function tableOf(report: Report): string {
  const rows = new Map<string, Map<string, string>>();
  for (const { name, assertionResults } of report.testResults) {
    for (const { ancestorTitles, title, status } of assertionResults) {
      const [client = "", api = ""] = (ancestorTitles[0] ?? "").split(" · ");
      const row = `${client} | ${packagesOf(dirname(name))} | ${api}`;
      const cell = { passed: "ok", failed: "fails" }[status] ?? "–";
      rows.set(row, (rows.get(row) ?? new Map<string, string>()).set(title, cell));
    }
  }
  const lines = [...rows]
    .toSorted(([a], [b]) => a.localeCompare(b, "en"))
    .map(([row, cells]) => `| ${row} | ${FEATURES.map((feature) => cells.get(feature) ?? "–").join(" | ")} |`);
  const head = ["Client", "Packages", "API", ...FEATURES];
  return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...lines, ""].join("\n");
}

/** Each package that a client's folder installs, with its version. */
function packagesOf(folder: string): string {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return Object.entries(dependencies)
    .map(([name, version]) => ALIAS.exec(version)?.slice(1).join(" ") ?? `${name} ${version}`)
    .join(", ");
}
