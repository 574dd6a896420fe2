import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { requireDebian } from "../../support/servers/require-debian.ts";

const run = promisify(execFile);
const PROGRAM = new URL("./vanished-client-program.ts", import.meta.url).pathname;

requireDebian("ip", "iproute2");
requireDebian("curl", "curl");

describe("clients that vanish without closing their connections", () => {
  it("have their jobs cancelled within 30 s, with and without a stream", async () => {
    const { stdout } = await run("unshare", ["-n", process.execPath, PROGRAM], { timeout: 90_000 });
    expect(JSON.parse(stdout)).toEqual(["streaming", "waiting"]);
  }, 120_000);
});
