import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const MODULE = join(import.meta.dirname, "../../../../island-agent/runtimes/llmcpp/back-ends.ts");

it("loadBackEndsFrom() resolves only the packages that node-llama-cpp imports by name in the folder of added back ends", async () => {
  const folder = await mkdtemp(join(tmpdir(), "atoll-back-ends-"));
  try {
    for (const name of ["@node-llama-cpp/added", "another"]) {
      const path = join(folder, "node_modules", name);
      await mkdir(path, { recursive: true });
      await writeFile(join(path, "package.json"), '{ "type": "module", "main": "index.js" }');
      await writeFile(join(path, "index.js"), "export const isFound = true;");
    }
    const script = `
      const { loadBackEndsFrom } = await import(${JSON.stringify(MODULE)});
      const find = (name) => import(name).then((module) => module.isFound, ({ code }) => code);
      const before = await find("@node-llama-cpp/absent");
      loadBackEndsFrom(${JSON.stringify(folder)});
      console.log(JSON.stringify([before, await find("@node-llama-cpp/added"), await find("another")]));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
    expect(JSON.parse(stdout)).toEqual(["ERR_MODULE_NOT_FOUND", true, "ERR_MODULE_NOT_FOUND"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
