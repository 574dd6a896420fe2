import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Debian's, as its packages (python3-httpx, python3-pytest, mypy) are for it alone. */
export const PYTHON = "/usr/bin/python3";
export const PYTHON_PACKAGE = join(import.meta.dirname, "..", "..", "sdk", "python");
export const PYTHON_SOURCES = join(PYTHON_PACKAGE, "src");
export const IS_PYTHON_REQUIRED = process.env["ATOLL_REQUIRE_PYTHON"] === "1";

/**
 * Says what is not installed, if one of these modules is not; else null, and the client's `_sync` is there.
 * @throws where ATOLL_REQUIRE_PYTHON is 1.
 */
export function missingPython(...modules: readonly string[]): string | null {
  try {
    execFileSync(PYTHON, ["-c", `import ${modules.join(", ")}`], { stdio: "ignore" });
  } catch {
    const missing = "not installed (Debian): python3-httpx, python3-pytest, mypy";
    if (IS_PYTHON_REQUIRED) throw new Error(missing);
    return missing;
  }
  const env = { PYTHONDONTWRITEBYTECODE: "1" };
  execFileSync(PYTHON, ["-c", "import setup"], { cwd: PYTHON_PACKAGE, env });
  return null;
}
