import { chooseSandbox } from "../../../../island-agent/runtimes/sandbox/choose-sandbox.ts";
import { BARE, type Sandbox, type SandboxNeeds } from "../../../../island-agent/runtimes/sandbox/sandbox.ts";
import { requireDebian } from "../../../support/servers/require-debian.ts";

/**
 * The sandbox that the setting `auto` finds on this machine. `ATOLL_SANDBOX=off` runs the tests with models without a
 * sandbox.
 */
const found = await chooseSandbox({
  setting: process.env["ATOLL_SANDBOX"] === "off" ? "off" : "auto",
  platform: process.platform,
  environment: process.env,
  gpu: false,
  memoryLimitBytes: null,
});

/**
 * Returns the path of bubblewrap.
 * @throws if it is not installed or does not work.
 */
export function requireBubblewrap(): string {
  const path = requireDebian("/usr/bin/bwrap", "bubblewrap");
  if (found.state.kind !== "bubblewrap") throw new Error(JSON.stringify(found.state));
  return path;
}

export function sandboxFor(needs: SandboxNeeds): Sandbox {
  return found.open?.(needs) ?? BARE;
}
