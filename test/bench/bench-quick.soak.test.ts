import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BENCHES } from "../../bench/benches.ts";
import { HAS_EVERY_ROUND } from "../support/soak-rounds.ts";
import { Program } from "../support/program.ts";

/** A full run starts all benches. Other runs start a few cheap ones that together use the whole harness. */
const NAMES = HAS_EVERY_ROUND ? BENCHES.map(({ name }) => name) : ["relay", "latency", "dispatch"];
const MAIN = join(import.meta.dirname, "..", "..", "bench", "main.ts");

/**
 * Returns the environment that npm may need for its registry, such as a proxy, because a bench installs the compared
 * queues.
 */
function npmEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("ATOLL_"));
  return Object.fromEntries(entries) as Record<string, string>;
}

describe("npm run bench -- --quick", () => {
  it("runs every script and prints its results", async () => {
    const only = HAS_EVERY_ROUND ? [] : NAMES.flatMap((name) => ["--only", name]);
    const { code, stdout, stderr } = await new Program(MAIN, ["--quick", ...only], npmEnvironment()).ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const chosen = BENCHES.filter(({ name }) => NAMES.includes(name));
    expect(chosen).toHaveLength(NAMES.length);
    for (const { title } of chosen) expect(stdout).toContain(`## ${title}`);
    if (HAS_EVERY_ROUND) expect(stdout).toContain("## Soak");
    expect(stdout).not.toMatch(/\b(?:NaN|undefined|Infinity)\b/);
  }, 600_000);
});
