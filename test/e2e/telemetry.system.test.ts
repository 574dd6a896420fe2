import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { requireDebian } from "../support/servers/require-debian.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");
const STRACE = requireDebian("strace", "strace");
const NETWORK_CALLS = ["-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o"];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "atoll-telemetry-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Traced calls that name an internet address. */
async function internetCalls(trace: string): Promise<string[]> {
  return (await readFile(trace, "utf8")).split("\n").filter((line) => /AF_INET6?\b/.test(line));
}

// The environment lacks variables such as CI, which silence libraries. There is no sandbox, because it would hide
// connections.
describe("an Island outside a sandbox, with an empty home", () => {
  it("writes nothing there and contacts nothing for island doctor", async () => {
    const trace = join(folder, "trace");
    const env = { PATH: process.env["PATH"], HOME: join(folder, "home"), ISLAND_SANDBOX: "off" };
    const island = [process.execPath, join(ROOT, "bin", "island.ts")];
    const doctor = [...island, "doctor", "--json", "--data", join(folder, "data")];
    const { stdout } = await run(STRACE, ["--seccomp-bpf", ...NETWORK_CALLS, trace, ...doctor], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      tokens: { tokensPerSecond: expect.any(Number) },
      matrix: { size: 512 },
    });
    expect(await internetCalls(trace)).toEqual([]);
    expect(await readdir(folder)).toEqual(["trace"]);
  });

  it("writes nothing there and contacts only its coordinator for a job of each runtime", async () => {
    await using network = await Network.open(["--catalog-directory", join(ROOT, "catalog")]);
    const { key, islandToken } = network.createAccount("quiet@example.com");
    const home = join(folder, "home");
    const runtimes = { "cargos.allow_runtimes": "llmcpp,onnx,diffusers,wasm" };
    const island = await network.startIsland("quiet", islandToken, runtimes, { HOME: home, ISLAND_SANDBOX: "off" });
    const trace = join(folder, "trace");
    const strace = spawn(STRACE, [...NETWORK_CALLS, trace, "-p", `${island.process.pid}`]);
    for (const workload of ["tiny-chat", "tiny-classify", "tiny-picture", "slugify"]) {
      const { example_input: input } = (await call(network.url, key, "GET", `/cargos/${workload}`)).body.data;
      const { id } = (await call(network.url, key, "POST", "/jobs", { workload, input })).body.data;
      const job = (await call(network.url, key, "GET", `/jobs/${id}?wait=60`)).body.data;
      expect(job).toMatchObject({ workload_slug: workload, status: "completed" });
    }
    island.kill("SIGTERM");
    await Promise.all([island.ended(), once(strace, "close")]);
    const calls = await internetCalls(trace);
    // The agent also downloads the models.
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.filter((each) => !each.includes('inet_addr("127.0.0.1")'))).toEqual([]);
    expect(await readdir(folder)).toEqual(["trace"]);
  });
});
