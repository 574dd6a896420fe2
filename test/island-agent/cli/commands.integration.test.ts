import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../../island-agent/execution/island-reports.ts";
import { startAgent } from "../../../island-agent/cli/start-command.ts";
import { describeAbsence, describeStatus, readStatus } from "../../../island-agent/cli/status-command.ts";
import { forgetLastEnd, storeLastEnd } from "../../../island-agent/control/last-end.ts";
import { storeKey } from "../../../island-agent/config/config-file.ts";
import { openControlServer } from "../../../island-agent/control/control-server.ts";
import { ModelStore } from "../../../island-agent/models/store/model-store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { FakeLog, ISLAND_TOKEN } from "../builders.ts";
import { dataDirectory, messageOf, useDataDirectory } from "./command-world.ts";

const OTHER_KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

useDataDirectory();

describe("startAgent()", () => {
  const log = new FakeLog();
  const start = (env: Record<string, string> = {}) =>
    startAgent({
      dataDirectory,
      flags: {},
      env,
      pid: 1,
      version: "0.0.0-test",
      clock: systemClock,
      openLog: () => log,
      onConnected: () => undefined,
    });
  beforeEach(async () => {
    log.events.all.length = 0;
    log.facts.length = 0;
    await storeKey(dataDirectory, "coordinator.api_url", "http://127.0.0.1:1");
    await storeKey(dataDirectory, "coordinator.token", ISLAND_TOKEN);
    await storeKey(dataDirectory, "coordinator.public_key", OTHER_KEY);
  });

  it("requires a coordinator", async () => {
    await rm(join(dataDirectory, "config.toml"));
    expect(await messageOf(start())).toBe("This Island has not joined a coordinator. First run: island join URL");
  });

  it("refuses a token that is invalid in a header, without showing it", async () => {
    const started = start({ ISLAND_COORDINATOR_TOKEN: `${ISLAND_TOKEN}\u{1f3dd}` });
    await expect(started).rejects.toEqual(
      new ConfigError([
        "ISLAND_COORDINATOR_TOKEN: must be an Island token: it_ and 40 letters and digits, got (hidden)",
      ]),
    );
  });

  it("refuses a data directory with a running agent", async () => {
    await using _server = await openControlServer(dataDirectory, 1, { "GET /status": () => ({}) });
    expect(await messageOf(start())).toBe(
      `An agent is already running on ${dataDirectory}. Show it with: island status`,
    );
  });

  it("refuses a model directory that another process uses, whatever control.json contains", async () => {
    await writeFile(join(dataDirectory, "control.json"), '{"port":');
    const models = join(dataDirectory, "models");
    const store = await ModelStore.open({
      directory: models,
      budgetBytes: 1,
      minFreeBytes: 0,
      clock: systemClock,
      fetch: {},
    });
    expect(await messageOf(start())).toMatch(/^Another process uses .*models\. /);
    await store.close();
  });

  it("refuses a file instead of the model directory", async () => {
    const models = join(dataDirectory, "models");
    await writeFile(models, "");
    expect(await messageOf(start())).toBe(`Cannot use the model directory ${models}: it is a file`);
  });

  it("refuses settings without the coordinator's key, with advice", async () => {
    await storeKey(dataDirectory, "coordinator.public_key", null);
    expect(await messageOf(start())).toBe(
      "The settings do not contain the coordinator's key. Join again with: island join URL",
    );
  });

  it("refuses a damaged host id", async () => {
    await writeFile(join(dataDirectory, "host-id"), "not an id");
    expect(await messageOf(start())).toMatch(/host-id: must contain a UUID\./);
  });

  it.each([
    [
      0o644,
      ["warn Other users can read the settings file, which contains the Island token. Protect it with: chmod 600"],
    ],
    [0o600, []],
  ])("warns if others can read the token: mode %o", async (mode, events) => {
    const file = join(dataDirectory, "config.toml");
    await chmod(file, mode);
    await writeFile(join(dataDirectory, "host-id"), "not an id");
    await messageOf(start());
    expect(log.events.all).toEqual(events);
    expect(log.facts).toEqual(events.map(() => ({ file })));
  });
});

describe("island status", () => {
  const status: AgentStatus = {
    link: "connected",
    coordinatorUrl: "https://host.example",
    hostId: "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
    closedBecause: null,
    quarantine: null,
    preload: null,
    slots: 4,
    runtimes: [{ type: "llmcpp", version: "3.0" }],
    loaded: [],
    memoryCaps: { ramBytes: 1_073_741_824, vramBytes: 0 },
    running: [],
    counts: { completed: 3, failed: 2, cancelled: 1, tokens: 700 },
    reconnects: 0,
    lastProblem: null,
  };

  it("reports that no agent runs, even with a damaged control file", async () => {
    await mkdir(dataDirectory);
    expect(await readStatus(dataDirectory)).toBeNull();
    await writeFile(join(dataDirectory, "control.json"), "{");
    expect(await readStatus(dataDirectory)).toBeNull();
    expect(await describeAbsence(dataDirectory, "island start", 0)).toBe(
      "No agent is running on this data directory. Start it with: island start",
    );
  });

  it("reports why the previous agent stopped, until the next one starts", async () => {
    await mkdir(dataDirectory);
    const absence = (): Promise<string> => describeAbsence(dataDirectory, "island start --data /d", 301_000);
    await storeLastEnd(dataDirectory, { reason: "the Island token was revoked", atMs: 1_000 });
    expect(await absence()).toBe(
      "No agent is running on this data directory. The last one stopped 5 min ago: the Island token was revoked. Start it with: island start --data /d",
    );
    await forgetLastEnd(dataDirectory);
    expect(await absence()).not.toContain("revoked");
  });

  it("reads the status of the running agent", async () => {
    await mkdir(dataDirectory);
    await using _server = await openControlServer(dataDirectory, 1, { "GET /status": () => status });
    expect(await readStatus(dataDirectory)).toEqual(status);
  });

  it("describes an idle agent in a few lines", () => {
    expect(describeStatus(status).split("\n")).toEqual([
      "Coordinator  https://host.example (connected)",
      "Host id      3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
      "Runtimes     llmcpp 3.0",
      "In memory    nothing",
      "For Cargos   1.0 GiB RAM",
      "Jobs         0 of 4 slots in use",
      "So far       3 completed, 2 failed, 1 cancelled, 700 tokens",
      "Preload      off",
    ]);
  });

  it.each([
    [12_400, "no jobs for 13 s, then one test job"],
    [0, "one test job at a time is accepted"],
  ])("shows a quarantine with %i ms left", (forMs, next) => {
    const quarantine = { inARow: 5, forMs, lastCode: "model_unavailable" as const };
    expect(describeStatus({ ...status, quarantine }).split("\n")).toContain(
      `Quarantine   5 jobs in a row failed (last: model_unavailable); ${next}. See the log of the agent, and run: island doctor`,
    );
  });

  it("names runtimes that will be probed again, and the sandbox", () => {
    const unusable = [
      { type: "llmcpp" as const, reason: "llama.cpp process was killed", retryAtMs: 0 },
      { type: "coreml" as const, reason: "only on macOS", retryAtMs: null },
    ];
    const sandbox = { setting: "auto", kind: "none", summary: "all rights", remedy: "install bubblewrap" } as const;
    const lines = describeStatus({ ...status, unusable, sandbox }).split("\n");
    expect(lines.slice(3, 5)).toEqual([
      "Not offered  llmcpp: llama.cpp process was killed (next check at 1970-01-01T00:00:00.000Z)",
      "Sandbox      none; install bubblewrap",
    ]);
  });

  it("shows the most recent problem and the running jobs", () => {
    const job = { jobId: "job_1", slug: "tiny-chat", type: "llmcpp" as const, forMs: 1_260 };
    const text = describeStatus({
      ...status,
      link: "waiting",
      closedBecause: "draining",
      runtimes: [],
      loaded: [{ slug: "tiny-chat", users: 1, ramBytes: 104_857_600, vramBytes: 2_097_152 }],
      memoryCaps: { ramBytes: 1_073_741_824, vramBytes: null },
      running: [job],
      lastProblem: "no message from the coordinator",
    });
    expect(text.split("\n")).toEqual([
      "Coordinator  https://host.example (waiting, draining)",
      expect.anything(),
      "Runtimes     none",
      "In memory    tiny-chat (100.0 MiB RAM, 2.0 MiB VRAM)",
      "For Cargos   1.0 GiB RAM, unknown VRAM",
      "Jobs         1 of 4 slots in use",
      expect.anything(),
      "Last problem no message from the coordinator",
      "  job_1  tiny-chat  1.3 s",
      "Preload      off",
    ]);
  });
});
