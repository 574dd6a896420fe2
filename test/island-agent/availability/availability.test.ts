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
  const told: (string | null)[] = [];
  availability.onChange = () => told.push(availability.closedBecause);
  return { clock, availability, told };
}

/** Hours that begin and end so many hours after the clock's present hour, by local time. */
function hoursFrom(clock: ManualClock, from: number, to: number): string {
  const now = new Date(clock.now()).getHours();
  const pad = (hour: number): string => String((now + hour) % 24).padStart(2, "0");
  return `${pad(from)}:00-${pad(to)}:00`;
}

describe("Availability", () => {
  it("takes jobs day and night unless told otherwise, and keeps no timer for that", () => {
    const { clock, availability } = make();
    expect(availability.closedBecause).toBeNull();
    expect(clock.pendingTimers).toBe(0);
  });

  it("closes and opens by the hours, and says so each time once", () => {
    const hours = hoursFrom(new ManualClock(), 2, 5);
    const { clock, availability, told } = make({ hours });
    expect(availability.closedBecause).toBe(`outside its hours (${hours})`);
    clock.advance(2 * HOUR_MS);
    expect(told).toEqual([null]);
    clock.advance(3 * HOUR_MS);
    expect(told).toEqual([null, `outside its hours (${hours})`]);
    clock.advance(19 * HOUR_MS);
    expect(told).toHaveLength(2);
    availability[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("takes other hours over at once, and keeps no timer of the old ones", () => {
    const { clock, availability, told } = make();
    const hours = hoursFrom(clock, 2, 5);
    availability.setHours(parseOpenHours(hours));
    expect([availability.hours, told]).toEqual([hours, [`outside its hours (${hours})`]]);
    clock.advance(2 * HOUR_MS);
    expect(told.at(-1)).toBeNull();
    availability.setHours(parseOpenHours(hoursFrom(clock, 2, 5)));
    expect(told).toHaveLength(3);
    expect(clock.pendingTimers).toBe(1);
    availability.setHours(null);
    expect([availability.hours, told.at(-1), clock.pendingTimers]).toEqual([null, null, 0]);
  });

  it("is paused until it is resumed, also within the hours", () => {
    const { availability, told } = make({ isPaused: true });
    expect(availability.closedBecause).toBe("paused");
    availability.pause();
    expect(told).toEqual([]);
    availability.resume();
    availability.resume();
    expect(told).toEqual([null]);
  });

  it("does not open outside the hours by being resumed", () => {
    const { availability, told } = make({ hours: hoursFrom(new ManualClock(), 2, 5), isPaused: true });
    availability.resume();
    expect(availability.isOpen).toBe(false);
    expect(told).toEqual([]);
    availability[Symbol.dispose]();
  });

  it("drains for good", () => {
    const { availability, told } = make();
    availability.drain();
    availability.resume();
    expect(told).toEqual(["draining"]);
    expect(availability.closedBecause).toBe("draining");
  });
});

describe("the pause file", () => {
  it("that cannot be read is not taken for none", async () => {
    await expect(readPause("/dev/null")).rejects.toThrow("ENOTDIR");
  });

  it("keeps a pause over restarts until it is taken back", async () => {
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
