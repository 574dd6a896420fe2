import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configCommand } from "../../../island-agent/cli/config-command.ts";
import { openControlServer } from "../../../island-agent/control/control-server.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { ISLAND_TOKEN } from "../builders.ts";
import { dataDirectory, useDataDirectory } from "./command-world.ts";

useDataDirectory();

describe("island config", () => {
  it("lists effective values for keys that are not set", async () => {
    const all = await configCommand.get(dataDirectory, { ISLAND_HARDWARE_PHYSICAL_CORES: "6" }, undefined);
    const row = (key: string): string => all.split("\n").find((line) => line.startsWith(`${key} `)) ?? "";
    expect(row("threads")).toMatch(/ 5 {2}\(default\)$/);
    expect(row("hours")).toMatch(/ day and night {2}\(default\)$/);
    expect(row("containers.registries")).toMatch(/ docker\.io, .+ {2}\(default\)$/);
    expect(row("containers.dns")).toMatch(/ [\d.]+, .+ {2}\(default\)$/);
    expect(row("coordinator.token")).toMatch(/ - {2}\(default\)$/);
  });

  it("stores a value, and shows it with its source, but never the token", async () => {
    await configCommand.set(dataDirectory, "slots", "7");
    await configCommand.set(dataDirectory, "coordinator.token", ISLAND_TOKEN);
    expect(await configCommand.get(dataDirectory, {}, "slots")).toBe("7");
    const all = await configCommand.get(dataDirectory, { ISLAND_GPU: "off" }, undefined);
    const row = (key: string): string => all.split("\n").find((line) => line.startsWith(`${key} `)) ?? "";
    expect(row("slots")).toMatch(/ 7 {2}\(file\)$/);
    expect(row("gpu")).toMatch(/ off {2}\(environment\)$/);
    expect(row("log_level")).toMatch(/ info {2}\(default\)$/);
    expect(all).not.toContain(ISLAND_TOKEN);
  });

  it("removes a value, so that its default applies", async () => {
    await configCommand.set(dataDirectory, "caps.ram_gb", "8");
    await configCommand.set(dataDirectory, "slots", "7");
    expect(await configCommand.unset(dataDirectory, "caps.ram_gb")).toBeNull();
    expect(await configCommand.get(dataDirectory, {}, "caps.ram_gb")).toBe("");
    expect(await configCommand.get(dataDirectory, {}, "slots")).toBe("7");
    expect(await configCommand.unset(dataDirectory, "caps.ram_gb")).toBeNull();
    await expect(configCommand.unset(dataDirectory, "slot")).rejects.toThrow("did you mean slots?");
  });

  it.each([
    ["applied", {}, "Applied to the running agent"],
    [
      "applied",
      { running: [{}, {}, {}] },
      "Applied. 3 running jobs continue; new jobs are accepted when fewer than 2 are running",
    ],
    ["next_start", {}, "Stored. Restart the agent to apply it"],
    ["overridden", {}, "Stored, but a flag or the variable ISLAND_SLOTS of the running agent overrides the file"],
  ])("reports what the running agent does with a change: %s %j", async (outcome, change, text) => {
    await mkdir(dataDirectory);
    const reply = { outcome, status: { closedBecause: null, running: [], slots: 2, ...change } };
    const requests: unknown[] = [];
    await using _server = await openControlServer(dataDirectory, process.pid, {
      "POST /settings": (body) => (requests.push(body), reply),
    });
    expect(await configCommand.set(dataDirectory, "slots", "2")).toBe(text);
    expect(requests).toEqual([{ key: "slots" }]);
  });

  it("reports that new hours close the Island, or that the agent cannot read the file", async () => {
    await mkdir(dataDirectory);
    const status = { closedBecause: "outside its hours (01:00-02:00)", running: [], slots: 2 };
    {
      await using _server = await openControlServer(dataDirectory, process.pid, {
        "POST /settings": () => ({ outcome: "applied", status }),
      });
      expect(await configCommand.set(dataDirectory, "hours", "01:00-02:00")).toBe(
        "Applied. The Island is outside its hours (01:00-02:00)",
      );
    }
    await using _server = await openControlServer(dataDirectory, process.pid, {
      "POST /settings": () => {
        throw new ConfigError(["config.toml: slot: unknown key"]);
      },
    });
    expect(await configCommand.unset(dataDirectory, "hours")).toBe(
      "The change is stored, but the running agent keeps its settings: config.toml: slot: unknown key",
    );
  });

  it("reports that an agent of an earlier version must be restarted", async () => {
    await mkdir(dataDirectory);
    await using _server = await openControlServer(dataDirectory, process.pid, { "GET /status": () => ({}) });
    expect(await configCommand.set(dataDirectory, "slots", "7")).toContain("Restart the agent");
    expect(await configCommand.unset(dataDirectory, "slots")).toContain("Restart the agent");
  });

  it("changes nothing for an unknown key or an invalid value", async () => {
    await expect(configCommand.set(dataDirectory, "slot", "7")).rejects.toThrow(ConfigError);
    await expect(configCommand.set(dataDirectory, "slots", "0")).rejects.toThrow(ConfigError);
    await expect(configCommand.set(dataDirectory, "coordinator.token", "xyz")).rejects.toThrow(
      "coordinator.token: must be an Island token",
    );
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
    await expect(configCommand.get(dataDirectory, {}, "slot")).rejects.toThrow("did you mean slots?");
  });

  it("returns the path of its file", () => {
    expect(configCommand.path(dataDirectory)).toBe(join(dataDirectory, "config.toml"));
  });
});
