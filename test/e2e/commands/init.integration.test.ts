import { existsSync, mkdtempSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../../support/http/http.ts";
import { Program } from "../../support/program.ts";
import { expectRefusal } from "../../support/refusal.ts";
import { runCommand } from "../../support/run-command.ts";
import { smallCatalog } from "../../support/small-catalog.ts";

const folder = mkdtempSync(join(tmpdir(), "atoll-init-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const init = (name: string, ...args: string[]) =>
  runCommand("init", join(folder, name), "--email", "ann@example.com", "--password", "correct horse", ...args);

it("coordinator init creates a network that starts with the printed command and accepts the printed key", async () => {
  const env = { ATOLL_EMAIL: "ann@example.com", ATOLL_PASSWORD: "correct horse" };
  await using made = new Program("coordinator", ["init", join(folder, "new"), "--port", "0"], env);
  const { code, stdout } = await made.ended();
  const [, key = "", token = ""] = /^API key {7}(ak_\w{40})\nIsland token {2}(it_\w{40})$/m.exec(stdout) ?? [];
  expect([code, key, token]).toEqual([0, expect.stringMatching(/^ak_/), expect.stringMatching(/^it_/)]);
  expect((await stat(join(folder, "new", "atoll.toml"))).mode & 0o777).toBe(0o600);
  const [, next = ""] = /^ {2}npm run coordinator -- (serve .*)$/m.exec(stdout) ?? [];
  await using serving = new Program("coordinator", next.split(" "));
  const [, url = ""] = await serving.printed(/listening on (\S+)\n/);
  expect((await call(url, key, "GET", "/account")).body.data.email).toBe("ann@example.com");
  // The commands in its log work from any directory.
  expect(serving.stderr).toContain(` cargo approve --all-shipped${next.replace("serve", "")}`);
});

it("coordinator init overwrites nothing", async () => {
  expect((await init("twice")).code).toBe(0);
  const file = join(folder, "twice", "atoll.toml");
  const before = await readFile(file, "utf8");
  expectRefusal(
    await init("twice"),
    /atoll\.toml already exists, and nothing was changed\. Start this network with: coordinator serve --config /,
  );
  expect(await readFile(file, "utf8")).toBe(before);
});

it.each([
  [["--password", "short"], "password: must have 8 to 200 characters", 1],
  [["--email", "ann"], 'E-mail address must look like you@example.com, got "ann"', 2],
  [["--port", "x"], '--port: must be an integer from 0 to 65535, got "x"', 2],
  [["--public-url", "atoll"], '--public-url: must be an http or https URL, got "atoll"', 1],
] as const)("coordinator init %j refuses before it writes anything", async (words, sentence, code) => {
  expectRefusal(await init("refused", ...words), sentence, code);
  expect(existsSync(join(folder, "refused"))).toBe(false);
});

it("coordinator init writes no configuration if the account fails, so that it can be repeated", async () => {
  const data = join(folder, "again", "data");
  await mkdir(join(folder, "again"));
  await writeFile(data, "in the way");
  expectRefusal(await init("again"), `${data}: must be a directory, but it is a file. Give another path`);
  expect(existsSync(join(folder, "again", "atoll.toml"))).toBe(false);
  await rm(data);
  expect((await init("again")).code).toBe(0);
});

it("coordinator init with a public address closes registration", async () => {
  const made = await init("public", "--public-url", "https://atoll.example", "--json");
  expect(JSON.parse(made.stdout)).toMatchObject({ url: "https://atoll.example", key: expect.stringMatching(/^ak_/) });
  expect(await readFile(join(folder, "public", "atoll.toml"), "utf8")).toMatch(/^registration = "closed"$/m);
});

describe("the settings file of coordinator init", () => {
  const home = join(folder, "home");
  const run = (cwd: string, words: string[], env: Record<string, string> = {}) =>
    new Program("coordinator", words, env, "", cwd).ended();
  const LIST = ["account", "list"];

  beforeAll(async () => {
    await mkdir(home);
    const env = { ATOLL_EMAIL: "ann@example.com", ATOLL_PASSWORD: "correct horse" };
    const { stdout } = await run(home, ["init", "--port", "0"], env);
    const program = join(import.meta.dirname, "..", "..", "..", "bin", "coordinator.ts");
    expect(stdout).toContain(`\n  ${process.execPath} ${program} serve\n`);
  });

  it("is found in the working directory or its atoll folder, and named on standard error except with --json", async () => {
    const file = join(home, "atoll", "atoll.toml");
    const [nextTo, inside] = await Promise.all([run(home, LIST), run(join(home, "atoll"), [...LIST, "--json"])]);
    expect([nextTo.code, nextTo.stderr]).toEqual([0, `Settings: ${file}\n`]);
    expect([inside.code, inside.stderr]).toEqual([0, ""]);
    expect(JSON.parse(inside.stdout)).toMatchObject({ accounts: [{ email: "ann@example.com" }] });
  });

  it("is overridden by ATOLL_CONFIG, and not needed with --data", async () => {
    const env = { ATOLL_CONFIG: join(home, "atoll", "atoll.toml") };
    const [named, data] = await Promise.all([
      run(folder, LIST, env),
      run(home, [...LIST, "--data", join(home, "atoll", "data")]),
    ]);
    expect([named.code, named.stderr]).toEqual([0, `Settings: ${env.ATOLL_CONFIG}\n`]);
    expect([data.code, data.stderr]).toEqual([0, ""]);
  });

  it("is part of the printed command if another file would be found first", async () => {
    const env = { ATOLL_EMAIL: "ann@example.com", ATOLL_PASSWORD: "correct horse" };
    const { stdout } = await run(join(home, "atoll"), ["init"], env);
    expect(stdout).toContain(` serve --config ${join(home, "atoll", "atoll", "atoll.toml")}\n`);
  });

  it("is named in the error if it is missing", async () => {
    const { code, stderr } = await run(folder, LIST);
    expect(code).toBe(1);
    expect(stderr).toContain(`no settings in ./atoll.toml and ./atoll/atoll.toml (in ${folder})`);
  });
});

it("coordinator serve starts with an unchanged copy of example.toml", async () => {
  const copy = join(folder, "copy.toml");
  await copyFile(new URL("../../../coordinator/config/example.toml", import.meta.url), copy);
  const flags = ["--port", "0", "--data", join(folder, "data"), "--catalog-directory", smallCatalog()];
  await using serving = new Program("coordinator", ["serve", "--config", copy, ...flags]);
  expect((await serving.printed(/listening on (\S+)\n/))[1]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});
