import { describe, expect, it } from "vitest";
import { NO_AGENT_STATUS } from "../../support/no-agent-status.ts";
import { GIB, MIB } from "../../../shared/format-bytes.ts";
import { describeBriefly, describeHistory, type ShownHistory } from "../../../island-agent/cli/history-command.ts";
import type { EndedJob } from "../../../island-agent/execution/job-history.ts";
import { describeStatus, type ShownStatus } from "../../../island-agent/cli/status-command.ts";

const NOW_MS = Date.UTC(2026, 0, 2, 12, 0, 0);
const HISTORY: ShownHistory = {
  jobs: [
    { jobId: "job_2", slug: "tiny-chat", startedAtMs: NOW_MS - 65_000, runMs: 5_000, outcome: "completed" },
    { jobId: "job_1", slug: "sha256", startedAtMs: NOW_MS - 8_000_000, runMs: 40, outcome: "failed" },
  ],
  earnings: {
    name: "garage",
    uptime: { today: 1, days_7: 0.98765, days_30: null },
    earned: { today: 4.5, days_7: 31.05, days_30: 118.35 },
    recent: [{ job_id: "job_2", credits: 1.35 }],
    standings: [],
  },
};
const STATUS = {
  link: "connected",
  coordinatorUrl: "https://atoll.example",
  hostId: "3f0c0f5e",
  closedBecause: null,
  quarantine: null,
  slots: 4,
  running: [{ jobId: "job_3", slug: "tiny-chat", type: "llmcpp", forMs: 1_260 }],
  lastProblem: null,
} as unknown as ShownStatus;

describe("describeBriefly()", () => {
  it("shows earnings, running jobs and the most recent jobs", () => {
    expect(describeBriefly(STATUS, HISTORY, NOW_MS).split("\n")).toEqual([
      "Island     garage, connected, at https://atoll.example",
      "Earned     4.5 credits today, 31.05 in 7 days, 118.35 in 30 days",
      "Uptime     100 % today, 98.7 % in 7 days, - in 30 days",
      "Running    1 of 4 slots",
      "           tiny-chat, for 1.3 s",
      "Last jobs  tiny-chat, completed, 60 s ago, 1.35 credits",
      "           sha256, failed, 2 h ago",
    ]);
  });

  it("shows what audits found out by Cargo, the most held credits first", () => {
    const one = { cargo: "tiny-chat", state: "new", streak: 4, reason: null, proven_after: 10, held_credits: 0.12 };
    const standings = [
      { ...one, cargo: "old-chat", state: "proven", streak: 31, held_credits: 0 },
      one,
      { ...one, cargo: "bad-chat", state: "quarantined", streak: 0, reason: "job_1: a lie", held_credits: 0 },
    ];
    const earnings = HISTORY.earnings && { ...HISTORY.earnings, standings };
    expect(
      describeBriefly(STATUS, { ...HISTORY, earnings }, NOW_MS)
        .split("\n")
        .slice(3, 6),
    ).toEqual([
      "Checked    tiny-chat new, 4 of 10 audits; 0.12 credits held",
      "           old-chat proven",
      "           bad-chat quarantined: job_1: a lie",
    ]);
    const many = earnings && { ...earnings, standings: Array.from({ length: 7 }, () => one) };
    expect(describeBriefly(STATUS, { ...HISTORY, earnings: many }, NOW_MS)).toContain("           2 more Cargos\n");
  });

  it("shows the engines", () => {
    const engine = {
      url: "http://127.0.0.1:11434",
      name: "Ollama",
      state: "paused" as const,
      models: [],
      declared: [],
      slots: 4,
      running: 0,
      othersRunning: 0,
      problem: "The engine is out of memory",
      pauseMs: 30_000,
    };
    const status: ShownStatus = {
      ...STATUS,
      running: [],
      engines: [engine, { ...engine, url: "http://127.0.0.1:8080" }],
    };
    const why = "paused for 30 s: The engine is out of memory";
    expect(describeBriefly(status, { jobs: [], earnings: null }, NOW_MS).split("\n").slice(2)).toEqual([
      "Running    0 of 4 slots",
      `Engines    Ollama at http://127.0.0.1:11434: ${why}`,
      `           Ollama at http://127.0.0.1:8080: ${why}`,
    ]);
    const verbose = describeStatus({ ...NO_AGENT_STATUS, engines: status.engines ?? [] });
    expect(verbose).toContain(`Engines      Ollama at http://127.0.0.1:11434: ${why}\n             Ollama at`);
  });

  it("shows the progress of a job's download or load, and other downloads", () => {
    const job = (slug: string) => ({ jobId: `job_${slug}`, slug, type: "llmcpp" as const, forMs: 3_000 });
    const download = (slug: string, receivedBytes: number) => {
      return { slug, fraction: null, receivedBytes, totalBytes: 202 * MIB, bytesPerSecond: 4 * MIB };
    };
    const status: ShownStatus = {
      ...STATUS,
      running: [job("my-model"), job("other"), job("third")],
      downloads: [download("my-model", 120 * MIB), { slug: "preloaded", fraction: null }],
      loading: ["other"],
    };
    expect(describeBriefly(status, { jobs: [], earnings: null }, NOW_MS).split("\n").slice(2)).toEqual([
      "Running    3 of 4 slots",
      "           my-model: downloading 120 of 202 MiB, 4.0 MiB/s, 21 s left",
      "           other: loading, for 3.0 s",
      "           third, for 3.0 s",
      "Downloads  preloaded: downloading",
    ]);
  });

  it("shows the known load of the machine", () => {
    const nothing = { cpuLoad: null, freeRamBytes: null, freeVramBytes: null };
    const lines = (usage: ShownStatus["usage"] & {}): string[] =>
      describeBriefly({ ...STATUS, usage }, HISTORY, NOW_MS).split("\n");
    expect(
      lines({ cpuLoad: 0.124, freeRamBytes: 9 * GIB, freeVramBytes: GIB, gpuLoad: 0.87, temperatureC: 71 }),
    ).toContain("Machine    CPU 12 %, GPU 87 %, 71 °C, 9.0 GiB of RAM free, 1.0 GiB of VRAM free");
    expect(lines({ ...nothing, gpuLoad: null, temperatureC: 40 })).toContain("Machine    40 °C");
    expect(lines(nothing).join("")).not.toContain("Machine");
  });

  it("shows that uptime is not available yet, and that the clock is wrong", () => {
    const earnings = HISTORY.earnings && { ...HISTORY.earnings, uptime: { today: null, days_7: null, days_30: null } };
    const lines = describeBriefly(STATUS, { jobs: [], earnings, clockAheadMs: 3_600_000 }, NOW_MS).split("\n");
    expect(lines).toContain("Uptime     available after the first minute");
    expect(lines).toContain("Clock      60 min ahead of the coordinator's clock. Correct the time of this machine");
    const close = describeBriefly(STATUS, { ...HISTORY, clockAheadMs: -2_000 }, NOW_MS);
    expect(close).not.toContain("Clock");
  });

  it("shows the most recent problem, and that the coordinator does not respond", () => {
    const lastProblem = "no message from the coordinator";
    const status = { ...STATUS, link: "waiting" as const, closedBecause: "paused", running: [], lastProblem };
    expect(describeBriefly(status, { jobs: [], earnings: null }, NOW_MS).split("\n")).toEqual([
      "Island     3f0c0f5e, paused, at https://atoll.example",
      "Earned     unknown: no response from the coordinator",
      "Running    0 of 4 slots",
      "Problem    no message from the coordinator",
    ]);
    expect(describeBriefly({ ...status, link: "connected" }, HISTORY, NOW_MS)).not.toContain("Problem");
  });
});

describe("describeHistory()", () => {
  it("shows why a job failed", () => {
    const [first, second] = HISTORY.jobs;
    const jobs = [first, { ...second, why: "sha256 needs 44 GiB of VRAM" }] as EndedJob[];
    expect(describeHistory({ ...HISTORY, jobs }, Infinity).split("\n")).toEqual([
      "TIME (UTC)           CARGO      RAN    OUTCOME    CREDITS  JOB    WHY",
      "2026-01-02 11:58:55  tiny-chat  5.0 s  completed  1.35     job_2",
      "2026-01-02 09:46:40  sha256     0.0 s  failed     -        job_1  sha256 needs 44 GiB of VRAM",
    ]);
    expect(
      describeBriefly(STATUS, { ...HISTORY, jobs }, NOW_MS)
        .split("\n")
        .at(-1),
    ).toBe("           sha256, failed, 2 h ago: sha256 needs 44 GiB of VRAM");
  });

  it("returns a line for each job, within the width of the terminal", () => {
    expect(describeHistory(HISTORY, Infinity).split("\n")).toEqual([
      "TIME (UTC)           CARGO      RAN    OUTCOME    CREDITS  JOB",
      "2026-01-02 11:58:55  tiny-chat  5.0 s  completed  1.35     job_2",
      "2026-01-02 09:46:40  sha256     0.0 s  failed     -        job_1",
    ]);
    const jobs = [
      { jobId: `job_${"0".repeat(26)}`, slug: "tiny-chat", startedAtMs: 0, runMs: 1, outcome: "failed" },
    ] as const;
    const lines = describeHistory({ ...HISTORY, jobs }, 80).split("\n");
    expect(lines.map(({ length }) => length)).toEqual([60, 80]);
  });

  it("reports that no job has ended, or that credits are unknown", () => {
    expect(describeHistory({ jobs: [], earnings: null }, 80)).toBe("No job has ended on this Island yet");
    expect(describeHistory({ ...HISTORY, earnings: null }, 80)).toContain("credits unknown");
  });
});
