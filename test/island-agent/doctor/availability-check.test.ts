import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseOpenHours } from "../../../island-agent/availability/open-hours.ts";
import { storePause } from "../../../island-agent/availability/pause-file.ts";
import { checkAvailability } from "../../../island-agent/doctor/availability-check.ts";
import { ManualClock } from "../../support/manual-clock.ts";

let directory: string;
let clock: ManualClock;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-doctor-"));
  clock = new ManualClock();
});
afterEach(() => rm(directory, { recursive: true }));

describe("checkAvailability()", () => {
  it("tells of the owner's pause and hours, and leaves no timer", async () => {
    const always = { isPaused: false, hours: null, closedBecause: null };
    expect(await checkAvailability(directory, null, clock)).toEqual(always);

    const hour = new Date(clock.now()).getHours();
    const at = (hours: number): string => `${String((hour + hours) % 24).padStart(2, "0")}:00`;
    const later = `${at(2)}-${at(3)}`;
    const closedBecause = `outside its hours (${later})`;
    const found = await checkAvailability(directory, parseOpenHours(later), clock);
    expect(found).toEqual({ isPaused: false, hours: later, closedBecause });

    await storePause(directory, true);
    expect(await checkAvailability(directory, null, clock)).toEqual({
      isPaused: true,
      hours: null,
      closedBecause: "paused",
    });
    expect(clock.pendingTimers).toBe(0);
  });
});
