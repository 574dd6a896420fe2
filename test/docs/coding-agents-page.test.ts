import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const AGENTS = {
  "Claude Code": "claude-code",
  Codex: "codex",
  Copilot: "copilot",
  opencode: "opencode",
  "Qwen Code": "qwen-code",
  Cline: "cline",
  Continue: "continue",
  pi: "pi",
} as const;

it("docs/use/coding-agents.md names the versions that the clients lane installs", () => {
  const page = readFileSync(join(ROOT, "docs", "use", "coding-agents.md"), "utf8");
  const rows = [...page.matchAll(/^\| \[([^\]]+)\]\(#[a-z-]+\) \| ([\d.]+) \|/gm)].map(([, name, version]) => [
    name,
    version,
  ]);
  expect(rows).toEqual(Object.entries(AGENTS).map(([name, folder]) => [name, versionIn(folder)]));
});

/** Version of the only package that the folder installs. */
function versionIn(folder: string): string | undefined {
  const file = join(ROOT, "test", "clients", folder, "package.json");
  const { dependencies } = JSON.parse(readFileSync(file, "utf8")) as { dependencies: Record<string, string> };
  return Object.values(dependencies)[0];
}
