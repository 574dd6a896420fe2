import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PYTHON, PYTHON_PACKAGE, PYTHON_SOURCES, requirePython } from "./debian-python.ts";
import { PythonBench } from "./python-bench.ts";

const CACHE = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "mypy");
requirePython("httpx", "pytest", "mypy");

describe("sdk/python", () => {
  let bench: PythonBench;
  beforeAll(async () => {
    bench = await PythonBench.open();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it("passes its tests against a real coordinator", async () => {
    expect(await run(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no"], bench.env)).toMatch(
      // The pattern does not match "1 failed, 50 passed". Runs of a minute or more end with "(0:01:04)".
      /^\d\d+ passed in [\d.]+s( \([\d:]+\))?\s*$/m,
    );
  });

  it("passes mypy, which also finds invalid calls", async () => {
    const mypy = ["-m", "mypy", "--cache-dir", CACHE];
    expect(await run([...mypy, "src", "tests", "../../examples"])).toMatch(/^Success: no issues found/);
    const wrong = [
      "from atoll_client import Atoll",
      "Atoll().jobs.submit(workload=7, input={})",
      'Atoll().jobs.get("job_1")["colour"]',
    ];
    const found = await run([...mypy, "-c", wrong.join("\n")], { MYPYPATH: PYTHON_SOURCES });
    expect(found).toContain('has incompatible type "int"; expected "str"');
    expect(found).toContain('TypedDict "Job" has no key "colour"');
  });
});

/** Returns the output of Python, even if it fails. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = { cwd: PYTHON_PACKAGE, env: { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1", ...env } };
  try {
    return (await promisify(execFile)(PYTHON, [...args], options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}
