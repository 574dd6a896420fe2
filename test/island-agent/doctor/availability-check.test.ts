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
  it("returns the owner's pause and hours, without a pending timer", async () => {
    const always = { isPaused: false, hours: null, closedBecause: null };
    expect(await checkAvailability(directory, null, clock, null)).toEqual(always);

    const hour = new Date(clock.now()).getHours();
    const at = (hours: number): string => `${String((hour + hours) % 24).padStart(2, "0")}:00`;
    const later = `${at(2)}-${at(3)}`;
    const closedBecause = `outside its hours (${later})`;
    const found = await checkAvailability(directory, parseOpenHours(later), clock, null);
    expect(found).toEqual({ isPaused: false, hours: later, closedBecause });

    await storePause(directory, true);
    expect(await checkAvailability(directory, null, clock, null)).toEqual({
      isPaused: true,
      hours: null,
      closedBecause: "paused",
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it("prefers a running agent's state to the settings, which fill in what an older agent omits", async () => {
    const hour = new Date(clock.now()).getHours();
    const at = (hours: number): string => `${String((hour + hours) % 24).padStart(2, "0")}:00`;
    const closed = parseOpenHours(`${at(2)}-${at(3)}`);
    const older = { closedBecause: null, slots: 4, running: [], memoryCaps: { ramBytes: 1, vramBytes: null } };
    const running = { ...older, isPaused: false, hours: null };
    const open = { isPaused: false, hours: null, closedBecause: null };
    expect(await checkAvailability(directory, closed, clock, running)).toEqual(open);
    expect(await checkAvailability(directory, closed, clock, older)).toEqual({ ...open, hours: `${at(2)}-${at(3)}` });
  });
});
