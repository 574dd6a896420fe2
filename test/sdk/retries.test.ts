import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "../../sdk/typescript/src/error-response.ts";
import { retryDelayMs } from "../../sdk/typescript/src/retries.ts";

const BACKOFF = { firstMs: 500, mostMs: 8_000 };

describe("retryDelayMs()", () => {
  it.each([
    [1, 500],
    [2, 1_000],
    [4, 4_000],
    [5, 8_000],
    [60, 8_000],
  ])("returns after failure %i between half and all of %i ms", (failures, fullMs) => {
    expect(retryDelayMs(failures, null, BACKOFF, 0)).toBe(fullMs / 2);
    expect(retryDelayMs(failures, null, BACKOFF, 1)).toBe(fullMs);
  });

  it("returns at least Retry-After, and at most slightly more", () => {
    fc.assert(
      fc.property(
        fc.nat(60),
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (s, failures, random) => {
          const delayMs = retryDelayMs(failures, s, BACKOFF, random);
          return delayMs >= s * 1_000 && delayMs <= s * 1_000 + 250;
        },
      ),
    );
  });
});

describe("parseRetryAfter()", () => {
  const nowMs = Date.UTC(2_026, 0, 1);
  it.each([
    [null, null],
    ["0", 0],
    ["17", 17],
    ["Thu, 01 Jan 2026 00:01:30 GMT", 90],
    ["Thu, 01 Jan 2020 00:00:00 GMT", 0],
    ["soon", null],
  ])("reads %j as %j", (header, seconds) => {
    expect(parseRetryAfter(header, nowMs)).toBe(seconds);
  });
});
