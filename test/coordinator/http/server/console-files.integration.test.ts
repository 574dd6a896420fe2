import { mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openConsoleFiles } from "../../../../coordinator/http/server/console-files.ts";
import { makeFastDirectory } from "../../../support/fast-directory.ts";

const PAGE = '<html><head><base href="./" /></head></html>';

let web: string;
let builds: number;
let fails: boolean;
beforeEach(async () => {
  web = join(await makeFastDirectory("atoll-console-"), "web");
  builds = 0;
  fails = false;
  await mkdir(join(web, "src"), { recursive: true });
  await writeFile(join(web, "build.ts"), "");
  await writeFile(join(web, "src", "main.tsx"), "");
});
afterEach(() => rm(join(web, ".."), { recursive: true, force: true }));

const open = () =>
  openConsoleFiles(web, async () => {
    builds += 1;
    if (fails) throw new Error("no vite");
    await writeDist();
  });
async function writeDist(): Promise<void> {
  await mkdir(join(web, "dist"), { recursive: true });
  await writeFile(join(web, "dist", "index.html"), PAGE);
}
const setAge = (path: string, ageS: number) => {
  const at = Date.now() / 1_000 - ageS;
  return utimes(join(web, path), at, at);
};

describe("the console's files", () => {
  it("are built once, at the first request", async () => {
    const files = open();
    await Promise.all([files.page(0), files.page(1), files.page(0)]);
    expect(builds).toBe(1);
  });

  it("are built again only when a source is newer", async () => {
    await writeDist();
    for (const source of ["build.ts", "src/main.tsx", "src"]) await setAge(source, 100);
    await setAge("dist/index.html", 50);
    await open().page(0);
    expect(builds).toBe(0);
    await setAge("src/main.tsx", 10);
    await open().page(0);
    expect(builds).toBe(1);
  });

  it("are those of the package if there are no sources", async () => {
    await rm(join(web, "build.ts"));
    await expect(open().page(0)).rejects.toMatchObject({ code: "not_found" });
    await writeDist();
    await setAge("dist/index.html", 50);
    await open().page(0);
    expect(builds).toBe(0);
  });

  it("report which command to run when the build fails, and are built again at the next request", async () => {
    fails = true;
    const files = open();
    await expect(files.page(0)).rejects.toThrow(/npm run build:web/);
    fails = false;
    expect(await files.page(0)).toContain("<base");
    expect(builds).toBe(2);
  });

  it("find their folder from the address of every page, even below the prefix of a proxy", async () => {
    const files = open();
    const bases = await Promise.all([0, 1, 2].map((depth) => files.page(depth)));
    expect(bases.map((page) => /<base href="([^"]*)"/.exec(page)?.[1])).toEqual(["./", "../", "../../"]);
  });
});
