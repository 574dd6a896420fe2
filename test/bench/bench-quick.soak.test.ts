import { join } from "node:path";
import { describe, expect } from "vitest";
import { BENCHES } from "../../bench/benches.ts";
import { itInFullRun } from "../support/soak-rounds.ts";
import { Program } from "../support/program.ts";

const MAIN = join(import.meta.dirname, "..", "..", "bench", "main.ts");

describe("npm run bench -- --quick", () => {
  itInFullRun(
    "runs every script to its end and prints each one's figures",
    async () => {
      const { code, stdout, stderr } = await new Program(MAIN, ["--quick"]).ended();
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      for (const { title } of BENCHES) expect(stdout).toContain(`## ${title}`);
      expect(stdout).toContain("## Soak");
      expect(stdout).not.toMatch(/\b(?:NaN|undefined|Infinity)\b/);
    },
    600_000,
  );
});
