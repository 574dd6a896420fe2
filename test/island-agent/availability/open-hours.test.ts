import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  describeOpenHours,
  isOpenAt,
  minutesToNextChange,
  parseOpenHours,
} from "../../../island-agent/availability/open-hours.ts";

const at = (hours: number, minutes = 0): number => new Date(2_026, 5, 15, hours, minutes).getTime();

describe("parseOpenHours()", () => {
  it.each(["22:00-07:00", "00:00-24:00", "00:00-06:30, 12:00-13:00"])("reads %s", (text) => {
    expect(parseOpenHours(text)).toHaveLength(text.split(",").length);
  });

  it.each([
    "",
    "22-7",
    "22:00",
    "25:00-07:00",
    "10:00-24:30",
    "10:60-11:00",
    "10:00-10:00",
    "09:00-10:00,",
    "9:00-10:00",
  ])("refuses %j", (text) => {
    expect(() => parseOpenHours(text)).toThrow(RangeError);
  });

  it("returns hours that describeOpenHours() formats as written", () => {
    expect(describeOpenHours(parseOpenHours("00:00-06:30,22:05-07:00"))).toBe("00:00-06:30, 22:05-07:00");
    expect(describeOpenHours(parseOpenHours("00:00-24:00, 18:00-00:00"))).toBe("00:00-24:00, 18:00-00:00");
  });
});

describe("isOpenAt()", () => {
  it.each([
    ["09:00-17:00", at(8, 59), false],
    ["09:00-17:00", at(9), true],
    ["09:00-17:00", at(16, 59), true],
    ["09:00-17:00", at(17), false],
    ["22:00-07:00", at(23), true],
    ["22:00-07:00", at(3), true],
    ["22:00-07:00", at(7), false],
    ["18:00-24:00", at(23, 59), true],
    ["18:00-24:00", at(0), false],
    ["18:00-00:00", at(23, 59), true],
    ["18:00-00:00", at(0), false],
    ["00:00-24:00", at(0), true],
    ["00:00-24:00", at(23, 59), true],
    ["00:00-06:00, 12:00-13:00", at(12, 30), true],
    ["00:00-06:00, 12:00-13:00", at(8), false],
  ])("returns for %s at %i: %s", (text, time, isOpen) => {
    expect(isOpenAt(parseOpenHours(text), time)).toBe(isOpen);
  });
});

describe("minutesToNextChange()", () => {
  it("returns at most the number of minutes until the next change", () => {
    const minute = fc.integer({ min: 0, max: 1_439 });
    fc.assert(
      fc.property(minute, minute, minute, (from, to, now) => {
        fc.pre(from !== to);
        const hours = [{ from, to }];
        const nowMs = at(0, now);
        const wait = minutesToNextChange(hours, nowMs);
        expect(wait).toBeGreaterThanOrEqual(1);
        for (let passed = 1; passed < wait; passed += 1)
          expect(isOpenAt(hours, at(0, (now + passed) % 1_440))).toBe(isOpenAt(hours, nowMs));
        expect(isOpenAt(hours, at(0, (now + wait) % 1_440))).not.toBe(isOpenAt(hours, nowMs));
      }),
      { numRuns: 50 },
    );
  });
});
