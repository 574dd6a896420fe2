import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../support/http.ts";
import { Program } from "../support/program.ts";
import { IS_FULL_SOAK } from "../support/soak-rounds.ts";
import manifest from "../../package.json" with { type: "json" };
import { bytesIn, cloneInto, freshEnvironment, npm } from "./clone.ts";

const run = promisify(execFile);
const MB = 1_000_000;
const folder = mkdtempSync(join(tmpdir(), "atoll-packages-"));
const env = freshEnvironment(folder);
const tarball = (name: string): string => join(folder, "clone", "dist", `atoll-${name}-${manifest.version}.tgz`);
const installed = (name: string): string => join(folder, "prefix", "lib", "node_modules", "@atoll", name);
const COORDINATOR = join(installed("coordinator"), "dist", "bin", "coordinator.js");
const ISLAND = join(installed("island"), "dist", "bin", "island.js");

describe.runIf(IS_FULL_SOAK)("npm i -g of the packed tarballs", () => {
  let said = "";
  beforeAll(async () => {
    const clone = await cloneInto(folder);
    await mkdir(join(folder, "home"));
    await npm(["run", "packages", "--", "--noCheck"], clone, { ...process.env });
    said = await npm(["install", "--global", tarball("coordinator"), tarball("island")], folder, env);
  }, 600_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("runs no script and warns of nothing", () => {
    expect(said).toMatch(/^added \d+ packages/m);
    expect(said).not.toMatch(/warn|script/i);
  });

  it("takes less than 150 MB for a coordinator, and 400 MB for an Island on a CPU", async () => {
    expect(await bytesIn(installed("coordinator"))).toBeLessThan(150 * MB);
    expect(await bytesIn(installed("island"))).toBeLessThan(400 * MB);
  });

  it("gives commands that run a network: init, serve, join, start, a chat and a job of each native runtime", async () => {
    const place = join(folder, "atoll");
    const words = ["--email", "ann@example.com", "--port", "0", "--json"];
    const secrets = { ...env, ATOLL_PASSWORD: "correct horse" };
    const { stdout } = await run("atoll-coordinator", ["init", place, ...words], { env: secrets });
    const { key, config, island_token: token } = JSON.parse(stdout) as Record<string, string>;
    await using coordinator = new Program(COORDINATOR, ["serve", "--config", config ?? ""], { HOME: folder });
    const [, url = ""] = await coordinator.printed(/listening on (\S+)\n/);
    const data = ["--data", join(folder, "island-data")];
    await run("island", ["join", url, ...data], { env: { ...env, ISLAND_COORDINATOR_TOKEN: token ?? "" } });
    await using island = new Program(ISLAND, ["start", ...data], { HOME: folder, ISLAND_MODELS_PRELOAD: "false" });
    await island.printed(/connected to/);
    const chat = await call(url, key ?? "", "POST", "/chat/completions", {
      messages: [{ role: "user", content: "What is 7 plus 8?" }],
      temperature: 0,
    });
    expect(chat.body.choices[0].message.content).toBe("7 plus 8 is 15.");
    const doctor = await run("island", ["doctor", "--json", ...data], { env });
    const { runtimes } = JSON.parse(doctor.stdout) as { runtimes: { type: string; probe: { usable: boolean } }[] };
    const usable = runtimes.filter(({ probe }) => probe.usable).map(({ type }) => type);
    expect(usable).toEqual(expect.arrayContaining(["llmcpp", "onnx", "diffusers", "wasm"]));
  }, 300_000);

  it("the client installs into a project of its own", async () => {
    const project = join(folder, "project");
    await mkdir(project);
    await npm(["install", tarball("client")], project, env);
    const script = 'const { Atoll } = await import("@atoll/client"); console.log(typeof Atoll)';
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: project, env });
    expect(stdout.trim()).toBe("function");
  });
});
