import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect } from "vitest";
import { itInFullRun } from "../../support/soak-rounds.ts";

const run = promisify(execFile);
const PROGRAM = new URL("./vanished-client-program.ts", import.meta.url).pathname;

const mayMakeLinks = [
  ["unshare", "-n", "ip", "link", "add", "name", "here", "type", "veth", "peer", "name", "there"],
  ["nsenter", "--version"],
  ["curl", "--version"],
].every(([command = "", ...args]) => spawnSync(command, args).status === 0);
const why = mayMakeLinks ? "" : " (skipped: needs the right to make network namespaces, ip, nsenter and curl)";

describe.skipIf(!mayMakeLinks)(`clients that vanish without a word${why}`, () => {
  itInFullRun(
    "have their jobs cancelled within 30 s, be it that they read a stream or wait for an answer",
    async () => {
      const { stdout } = await run("unshare", ["-n", process.execPath, PROGRAM], { timeout: 90_000 });
      expect(JSON.parse(stdout)).toEqual(["streaming", "waiting"]);
    },
    120_000,
  );
});
