import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requireDebian } from "../support/servers/require-debian.ts";
import { BusyNetwork } from "./busy-network.ts";
import { PROMETHEUS_DIRECTORY } from "./queries.ts";

requireDebian("promtool", "prometheus");

describe("promtool", () => {
  const promtool = (args: readonly string[], input = "") => {
    const { status, stdout, stderr } = spawnSync("promtool", args, {
      input,
      encoding: "utf8",
      cwd: PROMETHEUS_DIRECTORY,
    });
    return { status, text: `${stdout}${stderr}` };
  };

  it("finds no fault with a live scrape", async () => {
    await using network = await BusyNetwork.open();
    await network.work();
    expect(promtool(["check", "metrics"], await network.scrape())).toEqual({ status: 0, text: "" });
  });

  it("finds no fault with the rules, and each fires when it is to", () => {
    expect(promtool(["check", "rules", "alerts.yml"])).toMatchObject({ status: 0 });
    const { status, text } = promtool(["test", "rules", join(PROMETHEUS_DIRECTORY, "alerts.test.yml")]);
    expect({ status, text }).toMatchObject({ status: 0 });
  });

  it("finds no fault with prometheus.yml, but for the token that is not there", () => {
    expect(promtool(["check", "config", "--syntax-only", "prometheus.yml"])).toMatchObject({ status: 0 });
  });
});
