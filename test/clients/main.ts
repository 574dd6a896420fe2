import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeTable, type Report } from "./support/table.ts";

/**
 * `npm run test:clients [-- name …]` runs real clients from npm and PyPI against a real network. A name is a folder
 * next to this file. Without names, all clients run. `--title` chooses tests of clients from npm by a pattern.
 * `--table` writes the results of these clients into README.md here.
 */

const ROOT = join(import.meta.dirname, "..", "..");
const REPORT = join(ROOT, "node_modules", ".cache", "clients.json");
const PYTHON = "python";
/** Output of npm when the registry does not respond. */
const UNREACHED =
  /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|network timeout)\b/;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { table: { type: "boolean" }, title: { type: "string" } },
    allowPositionals: true,
  });
  const folders = readdirSync(import.meta.dirname).filter((name) =>
    existsSync(join(import.meta.dirname, name, "package.json")),
  );
  const unknown = positionals.find((name) => name !== PYTHON && !folders.includes(name));
  if (unknown !== undefined) return fail(`Unknown client "${unknown}": expected ${[...folders, PYTHON].join(", ")}`);
  const { table = false, title } = values;
  if (table && (positionals.length > 0 || title !== undefined)) {
    return fail("--table needs the results of all clients: leave out names and --title");
  }
  const names = folders.filter((name) => positionals.length === 0 || positionals.includes(name));
  const codes = [await testNpmClients(names, names.length === folders.length, table, title)];
  if (positionals.length === 0 || positionals.includes(PYTHON)) {
    codes.push((await run([process.execPath, join(import.meta.dirname, PYTHON, "main.ts")], ROOT)).code ?? 1);
  }
  return Math.max(...codes);
}

async function testNpmClients(
  names: readonly string[],
  areAll: boolean,
  writesTable: boolean,
  title: string | undefined,
): Promise<number> {
  if (names.length === 0) return 0;
  for (const name of names) {
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    const { code, text } = await run(["npm", "ci", ...flags], join(import.meta.dirname, name));
    if (code !== 0 && UNREACHED.test(text)) return skip("skipped: no npm registry");
    if (code !== 0) return fail(`${name} cannot be installed`);
  }
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  if (areAll) {
    const { code } = await run([process.execPath, tsc, "--noEmit", "-p", import.meta.dirname], ROOT);
    if (code !== 0) return code ?? 1;
  }
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  mkdirSync(join(REPORT, ".."), { recursive: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${REPORT}`];
  const paths = names.map((name) => `test/clients/${name}/`);
  const chosen = title === undefined ? paths : [...paths, "--testNamePattern", title];
  const command = [process.execPath, vitest, "run", "--project", "clients", "--maxWorkers", "1", ...reporters];
  const { code, text } = await run([...command, ...chosen], ROOT, { ATOLL_TEST_CLIENTS: "1" });
  if (title !== undefined && !/\d passed/.test(text))
    return fail(`--title "${title}" matches no test of ${names.join(", ")}`);
  if (writesTable) writeTable(JSON.parse(readFileSync(REPORT, "utf8")) as Report);
  return code ?? 1;
}

function skip(line: string): number {
  process.stdout.write(`${line}\n`);
  return 0;
}

function fail(line: string): number {
  process.stderr.write(`${line}\n`);
  return 1;
}

/** Runs a command and prints its output. */
function run(
  [command = "", ...args]: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; text: string }> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part: Buffer) => {
      text += part.toString();
      process.stdout.write(part);
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, text }));
  });
}
