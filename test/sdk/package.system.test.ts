import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInBrowser } from "./browser-page.ts";
import { PackedClient, RESULT } from "./packed-client.ts";

/** Node.js of the system, not of the lockfile. */
const SYSTEM_NODE = "/usr/bin/node";

let client: PackedClient;
beforeAll(async () => {
  client = await PackedClient.open();
});
afterAll(() => client[Symbol.asyncDispose]());

describe("the built package", () => {
  // The version depends on the Debian release, so the test cannot require a package.
  const noOldNode = systemNodeMajor() === 20 ? "" : ` [${SYSTEM_NODE} is not version 20]`;
  it.skipIf(noOldNode !== "")(`works on Node.js 20${noOldNode}`, async () => {
    expect(await client.runWithoutProcess(SYSTEM_NODE)).toEqual(RESULT);
  });

  it("works in a browser, from another origin", async () => {
    const { built, fixture } = client;
    // The browser sends a preflight request for the key, and another one for the resumed stream.
    fixture.proxy.script({ kind: "pass" }, { kind: "cut", afterBytes: 200 });
    const page = `${client.program("/dist/index.js")}\nreport(result);`;
    expect(await runInBrowser(page, built.installed, join(built.directory, "browser"))).toEqual(RESULT);
  });
});

/** Returns the major version of the system's Node.js, or null. */
function systemNodeMajor(): number | null {
  if (!existsSync(SYSTEM_NODE)) return null;
  return Number(/^v(\d+)/.exec(execFileSync(SYSTEM_NODE, ["--version"], { encoding: "utf8" }))?.[1]);
}
