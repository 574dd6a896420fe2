import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
/** Excludes the READMEs of packages, whose links are relative to the packed folder. */
const pages = execFileSync("git", ["ls-files", "*.md"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((page) => page !== "" && !page.startsWith("tools/packages/") && existsSync(join(ROOT, page)));

const textOf = (page: string): string =>
  readFileSync(join(ROOT, page), "utf8")
    .replaceAll(/^```[^]*?^```/gm, "")
    .replaceAll(/`[^`\n]*`/g, "`");

/** Returns the anchors of a page's headings, as GitHub generates them. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  const headings = readFileSync(join(ROOT, page), "utf8").replaceAll(/^```[^]*?^```/gm, "");
  for (const [, heading = ""] of headings.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-");
    let anchor = slug;
    for (let copy = 1; anchors.has(anchor); copy += 1) anchor = `${slug}-${copy}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns the links of a page to missing files or headings. */
function brokenLinks(page: string): string[] {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor);
  });
}

describe("the links in Markdown", () => {
  it.each(pages)("of %s lead to existing files and headings", (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });
});
