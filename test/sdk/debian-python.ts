import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { requireDebian } from "../support/servers/require-debian.ts";

/** Debian's Python, because its packages (python3-httpx, python3-pytest, mypy) work only with it. */
export const PYTHON = "/usr/bin/python3";
export const PYTHON_PACKAGE = join(import.meta.dirname, "..", "..", "sdk", "python");
export const PYTHON_SOURCES = join(PYTHON_PACKAGE, "src");

/** The Debian package of each module that tests need. */
const PACKAGES = { httpx: "python3-httpx", pytest: "python3-pytest", mypy: "mypy" } as const;

/** Generates the client's `_sync`. @throws if Python or one of these modules is not installed. */
export function requirePython(...modules: readonly (keyof typeof PACKAGES)[]): void {
  requireDebian(PYTHON, "python3");
  try {
    execFileSync(PYTHON, ["-c", `import ${modules.join(", ")}`], { stdio: "ignore" });
  } catch {
    const packages = modules.map((name) => PACKAGES[name]).join(" ");
    throw new Error(`Python cannot import ${modules.join(", ")}: apt-get install ${packages}`);
  }
  const env = { PYTHONDONTWRITEBYTECODE: "1" };
  execFileSync(PYTHON, ["-c", "import setup"], { cwd: PYTHON_PACKAGE, env });
}
