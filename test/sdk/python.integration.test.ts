import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PythonBench } from "./python-bench.ts";

const PACKAGE = join(import.meta.dirname, "..", "..", "sdk", "python");
/** Debian's, whose packages python3-httpx, python3-pytest and mypy are for it alone. */
const PYTHON = "/usr/bin/python3";
const CACHE = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "mypy");

/** What is not installed of Debian's; null where all is. */
const missing = missingOf("httpx", "pytest", "mypy");
const isRequired = process.env["ATOLL_REQUIRE_PYTHON"] === "1";
if (missing !== null && isRequired) throw new Error(missing);

describe.skipIf(missing !== null)(`sdk/python${missing === null ? "" : ` [${missing}]`}`, () => {
  let bench: PythonBench;
  beforeAll(async () => {
    bench = await PythonBench.open();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it("does what its tests say, against a real coordinator", async () => {
    expect(await run(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no"], bench.env)).toMatch(
      /\d\d passed in [\d.]+s\s*$/,
    );
  });

  // It takes longer than all else here.
  it.skipIf(!isRequired)(
    "is typed: mypy finds nothing, and finds a wrong call [needs ATOLL_REQUIRE_PYTHON=1]",
    async () => {
      expect(await run(["-m", "mypy", "--cache-dir", CACHE, "src", "tests"])).toMatch(/^Success: no issues found/);
      const wrong =
        'from atoll_client import Atoll\nAtoll().jobs.submit(workload=7, input={})\nAtoll().jobs.get("job_1")["colour"]\n';
      const found = await run(["-m", "mypy", "--cache-dir", CACHE, "-c", wrong], { MYPYPATH: join(PACKAGE, "src") });
      expect(found).toContain('has incompatible type "int"; expected "str"');
      expect(found).toContain('TypedDict "Job" has no key "colour"');
    },
  );
});

/** What Python prints, also when it fails. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = { cwd: PACKAGE, env: { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1", ...env } };
  try {
    return (await promisify(execFile)(PYTHON, [...args], options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

function missingOf(...modules: readonly string[]): string | null {
  try {
    execFileSync(PYTHON, ["-c", `import ${modules.join(", ")}`], { stdio: "ignore" });
    return null;
  } catch {
    return "not installed (Debian): python3-httpx, python3-pytest, mypy";
  }
}
