import { chooseSandbox } from "../../../../island-agent/runtimes/sandbox/choose-sandbox.ts";
import { BARE, type Sandbox, type SandboxNeeds } from "../../../../island-agent/runtimes/sandbox/sandbox.ts";

/** What the setting `auto` finds here; `ATOLL_SANDBOX=off` runs the models of the tests without it. */
export const found = await chooseSandbox({
  setting: process.env["ATOLL_SANDBOX"] === "off" ? "off" : "auto",
  platform: process.platform,
  environment: process.env,
  gpu: false,
  memoryLimitBytes: null,
});

export const hasBubblewrap = found.state.kind === "bubblewrap";
if (process.env["ATOLL_REQUIRE_SANDBOX"] === "1" && !hasBubblewrap) throw new Error(JSON.stringify(found.state));
/** For the titles of tests that need it. */
export const why = hasBubblewrap ? "" : ` (skipped: ${found.state.summary})`;

export function sandboxFor(needs: SandboxNeeds): Sandbox {
  return found.open?.(needs) ?? BARE;
}
