import { join } from "node:path";
import { describe, expect } from "vitest";
import { BENCHES } from "../../bench/benches.ts";
import { itInFullRun } from "../support/soak-rounds.ts";
import { Program } from "../support/program.ts";

const MAIN = join(import.meta.dirname, "..", "..", "bench", "main.ts");

/** What npm may need to reach its registry, such as a proxy or a certificate: a bench installs the queues that it compares with. */
function npmEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("ATOLL_"));
  return Object.fromEntries(entries) as Record<string, string>;
}

describe("npm run bench -- --quick", () => {
  itInFullRun(
    "runs every script to its end and prints each one's figures",
    async () => {
      const { code, stdout, stderr } = await new Program(MAIN, ["--quick"], npmEnvironment()).ended();
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      for (const { title } of BENCHES) expect(stdout).toContain(`## ${title}`);
      expect(stdout).toContain("## Soak");
      expect(stdout).not.toMatch(/\b(?:NaN|undefined|Infinity)\b/);
    },
    600_000,
  );
});
