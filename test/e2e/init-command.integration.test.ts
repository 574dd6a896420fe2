import { existsSync, mkdtempSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { call } from "../support/http.ts";
import { Program } from "../support/program.ts";
import { expectRefusal } from "../support/refusal.ts";
import { runCommand } from "../support/run-command.ts";
import { itInFullRun } from "../support/soak-rounds.ts";

const folder = mkdtempSync(join(tmpdir(), "atoll-init-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const init = (name: string, ...args: string[]) =>
  runCommand("init", join(folder, name), "--email", "ann@example.com", "--password", "correct horse", ...args);

it("coordinator init makes a network that serves with the line that it prints, and its key works", async () => {
  const env = { ATOLL_EMAIL: "ann@example.com", ATOLL_PASSWORD: "correct horse" };
  await using made = new Program("coordinator", ["init", join(folder, "new"), "--port", "0"], env);
  const { code, stdout } = await made.ended();
  const [, key = "", token = ""] = /^API key {7}(ak_\w{40})\nIsland token {2}(it_\w{40})$/m.exec(stdout) ?? [];
  expect([code, key, token]).toEqual([0, expect.stringMatching(/^ak_/), expect.stringMatching(/^it_/)]);
  expect((await stat(join(folder, "new", "atoll.toml"))).mode & 0o777).toBe(0o600);
  const [, next = ""] = /^ {2}coordinator (serve .*)$/m.exec(stdout) ?? [];
  await using serving = new Program("coordinator", next.split(" "));
  const [, url = ""] = await serving.printed(/listening on (\S+)\n/);
  expect((await call(url, key, "GET", "/account")).body.data.email).toBe("ann@example.com");
});

it("coordinator init overwrites nothing", async () => {
  expect((await init("twice")).code).toBe(0);
  const file = join(folder, "twice", "atoll.toml");
  const before = await readFile(file, "utf8");
  expectRefusal(await init("twice"), /atoll\.toml is there already, and nothing was changed\. Start it: \S+ serve/);
  expect(await readFile(file, "utf8")).toBe(before);
});

it.each([
  [["--password", "short"], "password: needs 8 to 200 characters", 1],
  [["--email", "ann"], '"ann" is not an e-mail address (you@example.com)', 2],
  [["--port", "x"], '--port: "x" is not an integer in 0..65535', 2],
  [["--public-url", "atoll"], '--public-url: "atoll" is not an http or https URL', 1],
] as const)("coordinator init %j refuses before it writes anything", async (words, sentence, code) => {
  expectRefusal(await init("refused", ...words), sentence, code);
  expect(existsSync(join(folder, "refused"))).toBe(false);
});

it("coordinator init leaves no configuration without an account, so that it can be repeated", async () => {
  const data = join(folder, "again", "data");
  await mkdir(join(folder, "again"));
  await writeFile(data, "in the way");
  expectRefusal(await init("again"), `${data}: is a file, not a directory`);
  expect(existsSync(join(folder, "again", "atoll.toml"))).toBe(false);
  await rm(data);
  expect((await init("again")).code).toBe(0);
});

it("coordinator init with an address that others reach keeps registration for the operator", async () => {
  const made = await init("public", "--public-url", "https://atoll.example", "--json");
  expect(JSON.parse(made.stdout)).toMatchObject({ url: "https://atoll.example", key: expect.stringMatching(/^ak_/) });
  expect(await readFile(join(folder, "public", "atoll.toml"), "utf8")).toMatch(/^registration = "closed"$/m);
});

itInFullRun("coordinator serve starts with example.toml copied as it is", async () => {
  const copy = join(folder, "copy.toml");
  await copyFile(new URL("../../coordinator/config/example.toml", import.meta.url), copy);
  const flags = ["--port", "0", "--data", join(folder, "data")];
  await using serving = new Program("coordinator", ["serve", "--config", copy, ...flags]);
  expect((await serving.printed(/listening on (\S+)\n/))[1]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});
