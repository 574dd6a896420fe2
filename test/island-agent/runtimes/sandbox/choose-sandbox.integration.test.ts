import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseSandbox, type SandboxOptions } from "../../../../island-agent/runtimes/sandbox/choose-sandbox.ts";
import { resolveAgentConfig } from "../../../../island-agent/config/resolve-agent-config.ts";
import { createRuntimes } from "../../../../island-agent/runtimes/create-runtimes.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { FakeLog, makeHardware, NEVER } from "../../builders.ts";

const SYSTEM_PATH = "/usr/bin:/bin";
const FAILS = 'echo "bwrap: Creating new namespace failed (ENOSPC)" >&2; exit 1';

let folder: string;
let options: SandboxOptions;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "atoll-sandbox-"));
  options = {
    setting: "auto",
    platform: "linux",
    environment: { PATH: `${folder}:${SYSTEM_PATH}` },
    gpu: false,
    memoryLimitBytes: null,
  };
});
afterEach(() => rm(folder, { recursive: true }));

function writeProgram(name: string, script: string): Promise<void> {
  return writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

describe("createRuntimes()", () => {
  it("disables only native runtimes when a sandbox is required and none is available", async () => {
    await writeProgram("bwrap", FAILS);
    const sandbox = await chooseSandbox({ ...options, setting: "require" });
    const config = resolveAgentConfig({ flags: {}, env: {}, file: null });
    const hardware = makeHardware({ platform: "darwin" });
    const log = new FakeLog();
    const runtimes = createRuntimes({
      dataDirectory: "/nonexistent",
      config,
      hardware,
      clock: systemClock,
      env: {},
      log,
      sandbox,
      containers: null,
    });
    const probes = await Promise.all(
      runtimes.map(async (runtime) => [runtime.type, await runtime.probe(NEVER)] as const),
    );
    const refused = { usable: false, reason: sandbox.state.summary, isFinal: true };
    expect(Object.fromEntries(probes)).toEqual({
      llmcpp: refused,
      onnx: refused,
      diffusers: refused,
      coreml: refused,
      wasm: { usable: true, version: expect.any(String) },
    });
  });
});

describe.skipIf(process.platform !== "linux")("chooseSandbox()", () => {
  it("runs native runtimes without a sandbox if none can be made, with the reason and a remedy", async () => {
    for (const name of ["bwrap", "unshare", "setpriv"]) await writeProgram(name, FAILS);
    const { state, open } = await chooseSandbox(options);
    expect(state).toEqual({
      setting: "auto",
      kind: "none",
      summary: "native runtimes have all rights of the agent's user: bwrap: Creating new namespace failed (ENOSPC)",
      remedy: expect.stringContaining("user.max_user_namespaces"),
    });
    expect(open?.({ gpu: false, mayFork: false }).kind).toBe("none");
  });

  it("names the package if bubblewrap is not installed", async () => {
    const { state } = await chooseSandbox({ ...options, environment: { PATH: folder } });
    expect(state).toMatchObject({
      kind: "none",
      summary: expect.stringContaining("bubblewrap is not installed"),
      remedy: expect.stringContaining("apt install bubblewrap"),
    });
  });

  it("stops native runtimes from starting if a required sandbox cannot be made", async () => {
    await writeProgram("bwrap", FAILS);
    const { state, open } = await chooseSandbox({ ...options, setting: "require" });
    expect(open).toBeNull();
    expect(state.summary).toContain("native runtimes do not start: sandbox is set to require, and bwrap: Creating");
  });

  it("starts no process when the sandbox is off", async () => {
    await writeProgram("bwrap", `touch ${folder}/started`);
    const { state } = await chooseSandbox({ ...options, setting: "off" });
    expect(state).toMatchObject({ kind: "none", remedy: null });
    await expect(readFile(join(folder, "started"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it.each(["darwin", "win32"])("uses the untested sandbox on %s only if it is required", async (platform) => {
    const { state, open } = await chooseSandbox({ ...options, platform });
    expect(state).toMatchObject({ kind: "none", summary: expect.stringContaining("not tested") });
    expect(open).not.toBeNull();
  });
});
