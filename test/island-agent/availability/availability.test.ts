import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Availability } from "../../../island-agent/availability/availability.ts";
import { parseOpenHours } from "../../../island-agent/availability/open-hours.ts";
import { readPause, storePause } from "../../../island-agent/availability/pause-file.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const HOUR_MS = 3_600_000;

function make(options: { hours?: string; isPaused?: boolean } = {}) {
  const clock = new ManualClock();
  const { hours, isPaused = false } = options;
  const availability = new Availability({ clock, hours: hours === undefined ? null : parseOpenHours(hours), isPaused });
  const changes: (string | null)[] = [];
  availability.onChange = () => changes.push(availability.closedBecause);
  return { clock, availability, changes };
}

/** Returns hours that start and end this many hours after the clock's current local hour. */
function hoursFrom(clock: ManualClock, from: number, to: number): string {
  const now = new Date(clock.now()).getHours();
  const pad = (hour: number): string => String((now + hour) % 24).padStart(2, "0");
  return `${pad(from)}:00-${pad(to)}:00`;
}

describe("Availability", () => {
  it("is open day and night by default, without a timer", () => {
    const { clock, availability } = make();
    expect(availability.closedBecause).toBeNull();
    expect(clock.pendingTimers).toBe(0);
  });

  it("opens and closes by the hours, and reports each change once", () => {
    const hours = hoursFrom(new ManualClock(), 2, 5);
    const { clock, availability, changes } = make({ hours });
    expect(availability.closedBecause).toBe(`outside its hours (${hours})`);
    clock.advance(2 * HOUR_MS);
    expect(changes).toEqual([null]);
    clock.advance(3 * HOUR_MS);
    expect(changes).toEqual([null, `outside its hours (${hours})`]);
    clock.advance(19 * HOUR_MS);
    expect(changes).toHaveLength(2);
    availability[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("applies new hours immediately, and stops the timer of the old ones", () => {
    const { clock, availability, changes } = make();
    const hours = hoursFrom(clock, 2, 5);
    availability.setHours(parseOpenHours(hours));
    expect([availability.hours, changes]).toEqual([hours, [`outside its hours (${hours})`]]);
    clock.advance(2 * HOUR_MS);
    expect(changes.at(-1)).toBeNull();
    availability.setHours(parseOpenHours(hoursFrom(clock, 2, 5)));
    expect(changes).toHaveLength(3);
    expect(clock.pendingTimers).toBe(1);
    availability.setHours(null);
    expect([availability.hours, changes.at(-1), clock.pendingTimers]).toEqual([null, null, 0]);
  });

  it("stays paused until it is resumed, even during open hours", () => {
    const { availability, changes } = make({ isPaused: true });
    expect(availability.closedBecause).toBe("paused");
    availability.pause();
    expect(changes).toEqual([]);
    availability.resume();
    availability.resume();
    expect(changes).toEqual([null]);
  });

  it("does not open outside the hours when it is resumed", () => {
    const { availability, changes } = make({ hours: hoursFrom(new ManualClock(), 2, 5), isPaused: true });
    availability.resume();
    expect(availability.isOpen).toBe(false);
    expect(changes).toEqual([]);
    availability[Symbol.dispose]();
  });

  it("does not resume after drain()", () => {
    const { availability, changes } = make();
    availability.drain();
    availability.resume();
    expect(changes).toEqual(["draining"]);
    expect(availability.closedBecause).toBe("draining");
  });
});

describe("the pause file", () => {
  it("makes readPause() fail if it cannot be read", async () => {
    await expect(readPause("/dev/null")).rejects.toThrow("ENOTDIR");
  });

  it("keeps a pause across restarts until it is removed", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atoll-pause-"));
    expect(await readPause(directory)).toBe(false);
    await storePause(directory, true);
    expect(await readPause(directory)).toBe(true);
    await storePause(directory, false);
    await storePause(directory, false);
    expect(await readPause(directory)).toBe(false);
    expect(await readdir(directory)).toEqual([]);
    await rm(directory, { recursive: true });
  });
});
