import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  openJobHistory,
  MAX_JOBS,
  failureReasonOf,
  type EndedJob,
} from "../../../island-agent/execution/job-history.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeLog } from "../builders.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-history-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const open = () => openJobHistory(directory, new ManualClock(), new FakeLog());
const jobOf = (n: number): EndedJob => ({
  jobId: `job_${n}`,
  slug: "tiny-chat",
  startedAtMs: n,
  runMs: 5,
  outcome: "completed",
});

describe("failureReasonOf()", () => {
  it("returns the message, or only the code if the message may quote the input", () => {
    expect(failureReasonOf({ code: "model_unavailable", message: "no space" })).toBe("no space");
    expect(failureReasonOf({ code: "invalid_input", message: "cannot parse: secret prompt" })).toBe("invalid_input");
    expect(failureReasonOf({ code: "model_unavailable", message: "x".repeat(400) })).toHaveLength(300);
  });
});

describe("JobHistory", () => {
  it("keeps the most recent jobs across a restart, newest first", async () => {
    const first = await open();
    for (let n = 0; n < MAX_JOBS + 3; n += 1) first.add(jobOf(n));
    await first[Symbol.asyncDispose]();
    await using second = await open();
    expect([second.list().length, second.list()[0], second.list().at(-1)]).toEqual([
      MAX_JOBS,
      jobOf(MAX_JOBS + 2),
      jobOf(3),
    ]);
  });

  it.each(["", "[", '[{"jobId":5}]', "{}"])("starts empty when the file contains %j", async (text) => {
    await writeFile(join(directory, "history.json"), text);
    await using history = await open();
    expect(history.list()).toEqual([]);
    history.add(jobOf(1));
    expect(history.list()).toEqual([jobOf(1)]);
  });
});
