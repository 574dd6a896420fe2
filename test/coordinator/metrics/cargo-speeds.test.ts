import { beforeEach, describe, expect, it } from "vitest";
import type { ActiveJob } from "../../../coordinator/jobs/active-job.ts";
import type { JobRegistryEvent } from "../../../coordinator/jobs/job-registry-events.ts";
import { MAX_SAMPLES, measureSpeeds } from "../../../coordinator/metrics/cargo-speeds.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const HOUR_MS = 3_600_000;

let clock: ManualClock;
let tell: (type: JobRegistryEvent["type"], job: object) => void;
let speedOf: ReturnType<typeof measureSpeeds>;

beforeEach(() => {
  clock = new ManualClock();
  const listeners: ((event: JobRegistryEvent) => void)[] = [];
  speedOf = measureSpeeds({ jobs: { subscribe: (listener) => void listeners.push(listener) }, clock });
  const common = { slug: "tiny", jobClass: "chat", state: "completed", feed: { tokens: 1 } };
  tell = (type, facts) => {
    const job = { ...common, waitsSinceMs: clock.now(), ...facts } as ActiveJob;
    for (const listener of listeners) listener({ type, job } as JobRegistryEvent);
  };
});

const completed = (tokensPerSecond: number | null) => tell("job_ended", { meter: { tokensPerSecond } });

describe("measureSpeeds()", () => {
  it("returns medians by Cargo, and null for unmeasured values", () => {
    for (const speed of [40, 10, 1_000]) completed(speed);
    for (const ms of [900, 100, 200]) tell("first_output", { waitsSinceMs: clock.now() - ms });
    expect([speedOf("tiny"), speedOf("other")]).toEqual([
      { tokensPerSecond: 40, firstTokenMs: 200 },
      { tokensPerSecond: null, firstTokenMs: null },
    ]);
  });

  it("ignores implausible speeds of an Island that sends its text at once", () => {
    for (const speed of [16_384_000, 40, 10_001]) completed(speed);
    expect(speedOf("tiny").tokensPerSecond).toBe(40);
  });

  it("ignores failed jobs, images, and the waits of batch jobs", () => {
    tell("job_ended", { state: "failed", meter: { tokensPerSecond: 5 } });
    completed(null);
    tell("first_output", { feed: { tokens: 0 } });
    tell("first_output", { jobClass: "batch" });
    expect(speedOf("tiny")).toEqual({ tokensPerSecond: null, firstTokenMs: null });
  });

  it(`forgets values after a day, and keeps only the latest ${MAX_SAMPLES}`, () => {
    completed(1);
    clock.advance(24 * HOUR_MS);
    expect(speedOf("tiny").tokensPerSecond).toBe(1);
    clock.advance(1);
    expect(speedOf("tiny").tokensPerSecond).toBeNull();
    for (let nth = 0; nth < MAX_SAMPLES; nth += 1) completed(2);
    for (let nth = 0; nth < MAX_SAMPLES; nth += 1) completed(3);
    expect(speedOf("tiny").tokensPerSecond).toBe(3);
    completed(2);
    expect(speedOf("tiny").tokensPerSecond).toBe(3);
  });
});
