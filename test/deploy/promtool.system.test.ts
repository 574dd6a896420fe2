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

  it("accepts a live scrape", async () => {
    await using network = await BusyNetwork.open();
    await network.work();
    expect(promtool(["check", "metrics"], await network.scrape())).toEqual({ status: 0, text: "" });
  });

  it("accepts the alert rules, and each alert fires under its condition", () => {
    expect(promtool(["check", "rules", "alerts.yml"])).toMatchObject({ status: 0 });
    const { status, text } = promtool(["test", "rules", join(PROMETHEUS_DIRECTORY, "alerts.test.yml")]);
    expect({ status, text }).toMatchObject({ status: 0 });
  });

  it("accepts prometheus.yml except for the missing token file", () => {
    expect(promtool(["check", "config", "--syntax-only", "prometheus.yml"])).toMatchObject({ status: 0 });
  });
});
