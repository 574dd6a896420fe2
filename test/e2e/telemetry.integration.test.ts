import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);
const ISLAND = join(import.meta.dirname, "..", "..", "bin", "island.ts");
const STRACE = "/usr/bin/strace";

describe("island doctor", () => {
  it.runIf(existsSync(STRACE))(
    "writes nothing into an empty home and contacts nothing, outside a sandbox",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "atoll-telemetry-"));
      try {
        const home = join(folder, "home");
        const trace = join(folder, "trace");
        // Without CI and the like, where libraries keep quiet. The runtimes each run a job or a probe in processes of their own.
        const env = { PATH: process.env["PATH"], HOME: home, ISLAND_SANDBOX: "off" };
        const strace = ["-f", "-qq", "--seccomp-bpf", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", trace];
        const doctor = [process.execPath, ISLAND, "doctor", "--json", "--data", join(folder, "data")];
        const { stdout } = await run(STRACE, [...strace, ...doctor], { env });
        const found = JSON.parse(stdout) as { tokens: object; matrix: object };
        expect(found).toMatchObject({ tokens: { tokensPerSecond: expect.any(Number) }, matrix: { size: 512 } });
        const calls = (await readFile(trace, "utf8")).split("\n");
        expect(calls.filter((call) => /AF_INET6?\b/.test(call))).toEqual([]);
        expect(await readdir(folder)).toEqual(["trace"]);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});
