import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CliError } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import {
  describeModels,
  listModels,
  pruneModels,
  pullModel,
  removeModel,
  type ModelsLocation,
} from "../../../island-agent/cli/models-commands.ts";
import { openProgress, type ProgressLine } from "../../../island-agent/cli/progress-bar.ts";
import { openControlServer, type ControlRoutes } from "../../../island-agent/control/control-server.ts";
import { openStores } from "../../../island-agent/artifacts/open-stores.ts";
import type { PullStatus } from "../../../island-agent/preload/owner-pulls.ts";
import { resolveAgentConfig } from "../../../island-agent/config/resolve-agent-config.ts";
import type { ListedArtifact } from "../../../island-agent/artifacts/stored-files.ts";
import { ImpatientClock } from "../models/store-fixture.ts";

const ITEM: ListedArtifact = {
  kind: "file",
  key: "hf:owner/repo:model.gguf",
  cargos: ["tiny-chat"],
  bytes: 2_264_736,
  lastUsedMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  inUse: false,
  usedBy: [],
  isWhole: true,
};

let location: ModelsLocation;
beforeEach(async () => {
  location = { dataDirectory: await mkdtemp(join(tmpdir(), "atoll-models-")), env: {}, clock: new ImpatientClock() };
});
afterEach(() => rm(location.dataDirectory, { recursive: true, force: true }));

const agent = (routes: ControlRoutes): Promise<AsyncDisposable> => openControlServer(location.dataDirectory, 1, routes);

class RecordedProgress implements ProgressLine {
  readonly shown: [string, number | null, string][] = [];
  stops = 0;
  show(what: string, fraction: number | null, detail: string): void {
    this.shown.push([what, fraction, detail]);
  }
  stop(): void {
    this.stops += 1;
  }
}

describe("island models ls, rm and prune", () => {
  it("ask the running agent", async () => {
    const requests: unknown[] = [];
    await using _server = await agent({
      "GET /models": () => [ITEM],
      "POST /models/remove": (body) => requests.push(body) * 2_048,
      "POST /models/prune": () => 3_221_225_472,
    });
    expect(await listModels(location)).toEqual([ITEM]);
    expect(await removeModel(location, "tiny-chat")).toBe("Freed 2 KiB");
    expect(requests).toEqual([{ name: "tiny-chat" }]);
    expect(await pruneModels(location)).toBe("Freed 3.0 GiB");
  });

  it("return the agent's refusal", async () => {
    await using _server = await agent({
      "POST /models/remove": () => {
        throw new Error("tiny-chat is in use by tiny-chat");
      },
    });
    await expect(removeModel(location, "tiny-chat")).rejects.toThrow(new CliError("tiny-chat is in use by tiny-chat"));
  });

  it("read the directory if no agent runs, and list it without creating files", async () => {
    expect(await listModels(location)).toEqual([]);
    expect(await readdir(location.dataDirectory)).toEqual([]);
    await expect(removeModel(location, "x")).rejects.toThrow('No model or image on disk has the name "x"');
    expect(await pruneModels(location)).toBe("Freed 0 KiB");
  });

  it("refuse a directory that another process has open", async () => {
    const config = resolveAgentConfig({ flags: {}, env: {}, file: null });
    await using _stores = await openStores(
      location.dataDirectory,
      config,
      { environment: {}, platform: "linux" },
      location.clock,
    );
    await expect(pruneModels(location)).rejects.toThrow("Another process uses");
  });
});

describe("describeModels()", () => {
  it("returns a table with Cargos or key, size, last use and state", () => {
    const items: ListedArtifact[] = [
      { ...ITEM, cargos: ["a", "b"], inUse: true, usedBy: ["b"] },
      { ...ITEM, kind: "folder", cargos: [], isWhole: false, bytes: 10 },
      { ...ITEM, kind: "part", cargos: ["c"], isWhole: false, inUse: true, bytes: 5_368_709_120 },
    ];
    expect(describeModels(items, Infinity).split("\n")).toEqual([
      "CARGO                     SIZE     LAST USED (UTC)   NOTE",
      "a, b                      2.2 MiB  2026-01-02 03:04  in use by b",
      "hf:owner/repo:model.gguf  1 KiB    2026-01-02 03:04  incomplete",
      "c                         5.0 GiB  2026-01-02 03:04  incomplete, in use",
    ]);
    expect(describeModels([], Infinity)).toBe("No models or images on disk");
  });
});

describe("island models pull", () => {
  const pull = (override: Partial<PullStatus> = {}): PullStatus[] => [
    { slug: "a", state: "downloading", fraction: null, detail: "", ...override },
  ];

  /** Responds to each request with the next of `responses`, and repeats the last one. */
  const respondingWith = (...responses: PullStatus[][]): ControlRoutes => {
    const next = (): unknown => (responses.length > 1 ? responses.shift() : responses[0]);
    return { "POST /models/pull": next, "GET /models/pulls": next };
  };

  it("shows progress until the model is on disk", async () => {
    const progress = new RecordedProgress();
    const progressed = { slug: "a", fraction: 0.5, receivedBytes: 101 * MIB, totalBytes: 202 * MIB };
    const states = [
      pull({ state: "requested" }),
      pull({ fraction: 0.5, download: { ...progressed, bytesPerSecond: 4 * MIB } }),
      pull({ state: "on disk", fraction: 1, download: null }),
    ];
    await using _server = await agent(respondingWith(...states));
    expect(await pullModel(location, "a", progress)).toBe("a is on disk");
    expect(progress).toMatchObject({
      shown: [
        ["a: requested", null, ""],
        ["a: downloading", 0.5, "101 of 202 MiB, 4.0 MiB/s, 26 s left"],
        ["a: on disk", 1, ""],
      ],
      stops: 1,
    });
  });

  it("fails with the agent's message, and removes the bar", async () => {
    const progress = new RecordedProgress();
    await using _server = await agent(respondingWith(pull(), pull({ state: "failed", detail: "no such file" })));
    await expect(pullModel(location, "a", progress)).rejects.toThrow(new CliError("Cannot pull a: no such file"));
    expect(progress.stops).toBe(1);
  });

  it("reports that the agent has stopped, or that none runs", async () => {
    const server = await agent({ "POST /models/pull": () => pull(), "GET /models/pulls": () => [] });
    await expect(pullModel(location, "a", new RecordedProgress())).rejects.toThrow("The agent has stopped");
    await server[Symbol.asyncDispose]();
    await expect(pullModel(location, "a", new RecordedProgress())).rejects.toThrow(
      "No agent is running on this data directory",
    );
  });
});

describe("openProgress()", () => {
  const written = (isTTY: boolean): { progress: ProgressLine; text: () => string } => {
    const stream = Object.assign(new PassThrough(), { isTTY });
    return { progress: openProgress(stream), text: () => String(stream.read() ?? "") };
  };

  it("writes a line for each state and each 10 % without a terminal", () => {
    const { progress, text } = written(false);
    progress.show("a: requested", null, "");
    for (const fraction of [0, 0.01, 0.1, 0.19, 0.999, 1]) progress.show("a", fraction, `${fraction} of 1 MiB`);
    progress.stop();
    expect(text()).toBe(
      "a: requested\na 0% (0 of 1 MiB)\na 10% (0.1 of 1 MiB)\na 90% (0.999 of 1 MiB)\na 100% (1 of 1 MiB)\n",
    );
  });

  it("draws a bar on a terminal", () => {
    const { progress, text } = written(true);
    progress.show("a", 0.5, "101 of 202 MiB");
    progress.stop();
    expect(text()).toMatch(/a \[=+-+\] 50% 101 of 202 MiB/);
  });
});
