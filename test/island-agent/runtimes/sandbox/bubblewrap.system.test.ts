import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseSandbox } from "../../../../island-agent/runtimes/sandbox/choose-sandbox.ts";
import type { Sandbox } from "../../../../island-agent/runtimes/sandbox/sandbox.ts";
import { trySandbox } from "../../../../island-agent/runtimes/sandbox/try-sandbox.ts";
import { requireBubblewrap, sandboxFor } from "./test-sandbox.ts";

const BWRAP = requireBubblewrap();

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "atoll-sandbox-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("trySandbox()", () => {
  it("rejects a sandbox in which hosts cannot read our packages", async () => {
    const real = sandboxFor({ gpu: false, mayFork: false });
    expect(await trySandbox(real, {})).toBeNull();
    const lacking: Sandbox = {
      ...real,
      wrap(command) {
        const launch = real.wrap(command);
        const isPackages = (path: string): boolean => path.endsWith("node_modules");
        return { ...launch, args: launch.args.map((path) => (isPackages(path) ? folder : path)) };
      },
    };
    expect(await trySandbox(lacking, {})).toBe("the packages of Atoll cannot be read inside the sandbox");
  });
});

describe("chooseSandbox()", () => {
  it("tries again when the test process was killed", async () => {
    const script = `#!/bin/sh\n[ -e ${folder}/killed ] && exec ${BWRAP} "$@"; touch ${folder}/killed; kill -9 $$\n`;
    await writeFile(join(folder, "bwrap"), script, { mode: 0o755 });
    const { state } = await chooseSandbox({
      setting: "auto",
      platform: "linux",
      environment: { PATH: `${folder}:/usr/bin:/bin` },
      gpu: false,
      memoryLimitBytes: null,
    });
    expect(state).toMatchObject({ kind: "bubblewrap", remedy: null });
  });
});
