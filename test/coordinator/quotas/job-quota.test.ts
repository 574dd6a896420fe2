import { describe, expect, it } from "vitest";
import { JobQuota } from "../../../coordinator/quotas/job-quota.ts";
import { RateLimitedError } from "../../../shared/errors.ts";

describe("JobQuota", () => {
  it("enter() takes places up to the limit, by account", () => {
    const quota = new JobQuota();
    quota.enter("a", 2);
    quota.enter("a", 2);
    quota.enter("b", 1);
    expect(() => quota.enter("a", 2)).toThrow(RateLimitedError);
    expect(() => quota.enter("a", 2)).toThrow("You have 2 unfinished jobs");
    expect([quota.isFull("a", 2), quota.isFull("a", 3), quota.isFull("b", 1)]).toEqual([true, false, true]);
  });

  it("a limit of 0 refuses every job", () => {
    expect(() => new JobQuota().enter("a", 0)).toThrow("may have no jobs");
  });

  it("add() takes a place whatever the limit", () => {
    const quota = new JobQuota();
    for (let i = 0; i < 5; i += 1) quota.add("a");
    expect([quota.isFull("a", 5), quota.isFull("a", 6)]).toEqual([true, false]);
  });

  it("leave() makes room and tells who listens, until they stop", () => {
    const quota = new JobQuota();
    const freed: string[] = [];
    const stop = quota.onCapacity((accountId) => freed.push(accountId));
    quota.enter("a", 1);
    quota.leave("a");
    quota.enter("a", 1);
    stop();
    quota.leave("a");
    expect(freed).toEqual(["a"]);
  });

  it("leave() of an account without a place is a fault", () => {
    const quota = new JobQuota();
    quota.enter("a", 1);
    quota.leave("a");
    expect(() => quota.leave("a")).toThrow(/less than it gives back/);
  });
});
