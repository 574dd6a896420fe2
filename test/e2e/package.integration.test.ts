import { execFile } from "node:child_process";
import { cp, mkdir, readdir, rm, symlink } from "node:fs/promises";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { call } from "../support/http.ts";
import { IS_FULL_SOAK, itInFullRun } from "../support/soak-rounds.ts";
import { Program } from "../support/program.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");
const folder = mkdtempSync(join(tmpdir(), "atoll-package-"));
const installed = join(folder, "package");

/** The paths that `bin` in package.json names, as a user's machine would start them. */
const COORDINATOR = join(installed, manifest.bin["atoll-coordinator"]);
const ISLAND = join(installed, manifest.bin.island);

/** npm itself, also where `npm` is a script that cannot be spawned. */
function npm(args: readonly string[], cwd: string): Promise<{ stdout: string }> {
  const cli = process.env["npm_execpath"];
  return cli === undefined ? run("npm", args, { cwd }) : run(process.execPath, [cli, ...args], { cwd });
}

// Built in a copy, as from a fresh clone: nothing that lies about here can help.
beforeAll(async () => {
  const clone = join(folder, "clone");
  await mkdir(clone);
  const left = new Set(["node_modules", "dist", ".git", "test"]);
  for (const name of await readdir(ROOT)) {
    if (!left.has(name)) await cp(join(ROOT, name), join(clone, name), { recursive: true });
  }
  await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"), "junction");
  await mkdir(join(clone, "dist"));
  await cp(join(ROOT, "LICENSE"), join(clone, "dist", "left-by-an-earlier-build.js"));
  // `npm test` has checked the types of the same files.
  await npm(["run", "build", ...(IS_FULL_SOAK ? [] : ["--", "--noCheck"])], clone);
  await npm(["pack", "--offline", "--ignore-scripts", "--pack-destination", folder], clone);
  await run("tar", ["-xzf", `atoll-${manifest.version}.tgz`], { cwd: folder });
  await symlink(join(ROOT, "node_modules"), join(installed, "node_modules"), "junction");
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the published package", () => {
  it("holds what its programs and its README need, and nothing of an earlier build", async () => {
    const files = (await readdir(installed, { recursive: true })).filter((name) => !name.startsWith("node_modules"));
    const names = files.map((name) => name.replaceAll("\\", "/"));
    expect(names).toEqual(
      expect.arrayContaining([
        ...["README.md", "LICENSE", "ARCHITECTURE.md", "docs/protocol.md", "coordinator/config/example.toml"],
        ...[
          "catalog/cargos/tiny-chat.json",
          "catalog/models/tiny-islander.gguf",
          "dist/bin/package.json",
          "web/dist/index.html",
        ],
      ]),
    );
    expect(names).not.toContain("dist/left-by-an-earlier-build.js");
    expect(names.filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))).toEqual([]);
  });

  it.each([COORDINATOR, ISLAND])("%s starts by itself and says its version", async (program) => {
    const { stdout } = await run(process.execPath, [program, "--version"], { cwd: folder });
    expect(stdout.trim()).toBe(manifest.version);
  });

  itInFullRun("serves a job end to end: coordinator, Island and model run from dist", async () => {
    const data = ["--data", join(folder, "coordinator")];
    await using coordinator = new Program(COORDINATOR, ["serve", "--port", "0", "--log-level", "warn", ...data]);
    const [, url = ""] = await coordinator.printed(/listening on (\S+)\n/);
    const { stdout } = await run(process.execPath, [
      ...[COORDINATOR, "account", "create", "--email", "ann@example.com", "--password", "correct horse"],
      ...["--with-key", "--with-island-token", "--json", ...data],
    ]);
    const { key, island_token } = JSON.parse(stdout) as { key: string; island_token: string };
    const islandData = ["--data", join(folder, "island")];
    await run(process.execPath, [ISLAND, "join", url, "--token", island_token, ...islandData]);
    await using island = new Program(ISLAND, ["start", ...islandData]);
    await island.printed(/connected to/);
    const status = await run(process.execPath, [ISLAND, "status", "--verbose", ...islandData]);
    expect(status.stdout).toContain(`Coordinator  ${url} (connected)`);
    const answer = await call(url, key, "POST", "/chat/completions", {
      messages: [{ role: "user", content: "What is 7 plus 8?" }],
      temperature: 0,
    });
    expect(answer.body.choices[0].message.content).toBe("7 plus 8 is 15.");
  });
});
