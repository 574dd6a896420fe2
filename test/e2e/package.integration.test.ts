import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { assemble } from "../../tools/packages/assemble.ts";
import { COORDINATOR, ISLAND } from "../../tools/packages/published-packages.ts";
import { cloneInto } from "../packages/clone.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "atoll-package-"));
const PROGRAMS = [COORDINATOR, ISLAND];

/** Returns the files and the package.json of an assembled package. */
async function packageOf(program: (typeof PROGRAMS)[number]) {
  const directory = join(folder, "clone", "dist", "packages", program.folder);
  const files = (await readdir(directory, { recursive: true })).map((name) => name.replaceAll("\\", "/"));
  const manifest = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
  return { directory, files, manifest, entry: join(directory, manifest.bin[program.command]) };
}

// The package is built in a copy that equals a fresh clone, so that untracked files have no effect.
beforeAll(async () => {
  const clone = await cloneInto(folder);
  await mkdir(join(clone, "dist"));
  await cp(join(clone, "LICENSE"), join(clone, "dist", "left-by-an-earlier-build.js"));
  // `npm test` has checked the types of the same files.
  await run(process.execPath, [join(clone, "tools", "build.ts"), "--noCheck"]);
  for (const program of PROGRAMS) assemble(clone, program);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

// test/packages/ installs these packages.
describe("the published packages", () => {
  it("contain every file that the coordinator and its README need, and none of the agent or an earlier build", async () => {
    const { files, manifest } = await packageOf(COORDINATOR);
    expect(files).toEqual(
      expect.arrayContaining([
        ...["README.md", "LICENSE", "docs/operate/install.md", "coordinator/config/example.toml"],
        ...[
          "catalog/cargos/tiny-chat.json",
          "catalog/models/tiny-islander.gguf",
          "dist/bin/package.json",
          "web/dist/index.html",
        ],
      ]),
    );
    expect(files.filter((name) => /left-by|island-agent|bin\/main\/island/.test(name))).toEqual([]);
    expect(Object.keys(manifest.dependencies)).toEqual(expect.arrayContaining(["better-sqlite3", "swagger-ui-dist"]));
    expect(manifest.dependencies).not.toHaveProperty("node-llama-cpp");
  });

  it("contain the doctor's models and only CPU back ends in the agent's package", async () => {
    const { files, manifest } = await packageOf(ISLAND);
    const needed = ["README.md", "catalog/models/tiny-islander.gguf", "dist/island-agent/doctor/matrix.onnx"];
    expect(files).toEqual(expect.arrayContaining(needed));
    expect(files.filter((name) => /dist\/coordinator|bin\/main\/(?:coordinator|serve)/.test(name))).toEqual([]);
    expect(manifest.dependencies).not.toHaveProperty("better-sqlite3");
    const backEnds = Object.keys(manifest.optionalDependencies).filter((name) => name.startsWith("@node-llama-cpp/"));
    expect(backEnds).toEqual(expect.arrayContaining(["@node-llama-cpp/linux-x64", "@node-llama-cpp/mac-arm64-metal"]));
    expect(backEnds.filter((name) => /cuda|vulkan/.test(name))).toEqual([]);
  });

  it.each(PROGRAMS)("contain JavaScript with pinned dependencies, and print the version: $name", async (program) => {
    const { files, manifest, entry } = await packageOf(program);
    expect(files.filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))).toEqual([]);
    const versions = Object.values({ ...manifest.dependencies, ...manifest.optionalDependencies });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+/.test(String(version)))).toEqual([]);
    const { stdout } = await run(process.execPath, [entry, "--version"], { cwd: folder });
    expect(stdout.trim()).toBe(manifest.version);
    // Acts like an older Node.js.
    const older = 'Object.defineProperty(process, "versions", { value: { node: "20.20.2" } })';
    await writeFile(join(folder, "older.cjs"), older);
    const refused = run(process.execPath, ["--require", join(folder, "older.cjs"), entry, "--version"]);
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Atoll requires Node\.js 24 or newer; this is .*\n {2}npm install --global --prefix ~\/\.local node@24 && export PATH=/,
      ),
    });
  });
});
