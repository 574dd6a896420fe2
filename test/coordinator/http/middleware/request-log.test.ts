import { expect, it } from "vitest";
import { MAX_LIMITED_LINES, requestLog } from "../../../../coordinator/http/middleware/request-context.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const LINE = { request_id: "1", method: "GET", path: "/", status: 200, duration_ms: 1 };

it("requestLog() limits the lines of unauthenticated requests, and logs every request of an account", () => {
  const clock = new ManualClock();
  const lines: object[] = [];
  const omitted: object[] = [];
  const info = (facts: object, message: string) => void (message === "Request" ? lines : omitted).push(facts);
  const note = requestLog({ info }, clock);
  const flood = (facts: object) => {
    for (let nth = 0; nth < 3 * MAX_LIMITED_LINES; nth += 1) note({ ...LINE, ...facts });
    return lines.splice(0).length;
  };
  expect(flood({})).toBe(MAX_LIMITED_LINES);
  expect(flood({ account_id: "user_1" })).toBe(3 * MAX_LIMITED_LINES);
  expect(flood({ account_id: "user_1", status: 429 })).toBe(0);
  expect(omitted).toEqual([]);
  clock.advance(1_000);
  expect(flood({ status: 404 })).toBe(MAX_LIMITED_LINES);
  expect(omitted).toEqual([{ requests: 5 * MAX_LIMITED_LINES }]);
});
