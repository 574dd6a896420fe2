import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, runInBrowser } from "./browser-page.ts";
import { BuiltPackage } from "./built-package.ts";
import { SdkFixture, token } from "./sdk-fixture.ts";

/** Not the one of the lockfile. */
const SYSTEM_NODE = "/usr/bin/node";
const PIECES = ["Hello ", "from ", "afar: é→😀"];

let built: BuiltPackage;
let fixture: SdkFixture;
let jobId: string;
beforeAll(async () => {
  [built, fixture] = await Promise.all([BuiltPackage.build(), SdkFixture.open()]);
  jobId = await fixture.completed(...PIECES.map(token));
});
afterAll(async () => {
  await built[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

/** Reads the job over a cut connection, so that headers of a resumed stream are asked for too. */
const program = (client: string): string => `
  import { Atoll, JobFailedError } from ${JSON.stringify(client)};
  const atoll = new Atoll(${JSON.stringify({ baseUrl: fixture.proxy.url, apiKey: fixture.apiKey })});
  let text = "";
  for await (const event of atoll.jobs.stream(${JSON.stringify(jobId)})) if (event.type === "token") text += event.content;
  const { id } = await atoll.jobs.submit({ workload: "tiny-chat", input: { prompt: "Hi" } });
  const { status } = await atoll.jobs.cancel(id);
  const failure = await atoll.jobs.wait(id).catch((error) => error);
  const result = { text, status, isTyped: failure instanceof JobFailedError, process: typeof process };
`;
const RESULT = { text: PIECES.join(""), status: "cancelled", isTyped: true };

describe("The built package", () => {
  it("has no dependency, and every file that its exports name", async () => {
    const manifest = JSON.parse(await readFile(join(built.installed, "package.json"), "utf8")) as {
      dependencies?: object;
      exports: Record<string, Record<string, string>>;
      files: string[];
    };
    expect(manifest.dependencies).toBeUndefined();
    for (const file of Object.values(manifest.exports["."] ?? {})) {
      expect(existsSync(join(built.installed, file))).toBe(true);
      expect(manifest.files).toContain(file.split("/")[1]);
    }
  });

  it("imports nothing but its own files", async () => {
    const files = (await readdir(join(built.installed, "dist"))).filter((name) => /\.(js|d\.ts)$/.test(name));
    expect(files.length).toBeGreaterThan(20);
    for (const name of files) {
      const source = await readFile(join(built.installed, "dist", name), "utf8");
      // Without comments, whose examples may have a field "from".
      const code = source.replaceAll(/^\s*\*.*$/gm, "");
      for (const [, to] of code.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)) {
        expect(`${name} imports ${to}`).toMatch(/(\.js imports \.\/[\w-]+\.js|\.d\.ts imports \.\/[\w-]+\.ts)$/);
      }
    }
  });

  const runWithoutProcess = async (executable: string): Promise<unknown> => {
    const bare = `
      const print = console.log;
      delete globalThis.process;
      print(JSON.stringify((await import("./program.mjs")).default));
    `;
    await writeFile(join(built.directory, "bare.mjs"), bare);
    await writeFile(join(built.directory, "program.mjs"), `${program("@atoll/client")}\nexport default result;`);
    fixture.proxy.script({ kind: "cut", afterBytes: 200 });
    return JSON.parse(await built.node(["bare.mjs"], {}, executable));
  };
  it("works where there is no process", async () => {
    expect(await runWithoutProcess(process.execPath)).toEqual({ ...RESULT, process: "undefined" });
  });
  const noOldNode = systemNodeMajor() === 20 ? "" : ` [${SYSTEM_NODE} is not version 20]`;
  it.skipIf(noOldNode !== "")(`works on Node.js 20${noOldNode}`, async () => {
    expect(await runWithoutProcess(SYSTEM_NODE)).toEqual({ ...RESULT, process: "undefined" });
  });

  const noChromium = existsSync(CHROMIUM) ? "" : ` [${CHROMIUM} is not on this machine]`;
  it.skipIf(noChromium !== "")(`works in a browser, from another origin${noChromium}`, async () => {
    // The browser asks first whether it may send a key, and then whether it may resume.
    fixture.proxy.script({ kind: "pass" }, { kind: "cut", afterBytes: 200 });
    const page = `${program("/dist/index.js")}\nreport(result);`;
    const reported = await runInBrowser(page, built.installed, join(built.directory, "browser"));
    expect(reported).toEqual({ ...RESULT, process: "undefined" });
  });
});

/** Null where there is none. */
function systemNodeMajor(): number | null {
  if (!existsSync(SYSTEM_NODE)) return null;
  return Number(/^v(\d+)/.exec(execFileSync(SYSTEM_NODE, ["--version"], { encoding: "utf8" }))?.[1]);
}
