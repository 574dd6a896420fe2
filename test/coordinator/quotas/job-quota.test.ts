import { describe, expect, it } from "vitest";
import { JobQuota } from "../../../coordinator/quotas/job-quota.ts";
import { RateLimitedError } from "../../../shared/errors.ts";

describe("JobQuota", () => {
  it("enter() takes slots up to the limit of each account", () => {
    const quota = new JobQuota();
    quota.enter("a", 2);
    quota.enter("a", 2);
    quota.enter("b", 1);
    expect(() => quota.enter("a", 2)).toThrow(RateLimitedError);
    expect(() => quota.enter("a", 2)).toThrow("You have 2 unfinished jobs");
    expect([quota.isFull("a", 2), quota.isFull("a", 3), quota.isFull("b", 1)]).toEqual([true, false, true]);
  });

  it("enter() refuses every job at a limit of 0", () => {
    expect(() => new JobQuota().enter("a", 0)).toThrow("may not run jobs");
  });

  it("add() takes a slot regardless of the limit", () => {
    const quota = new JobQuota();
    for (let i = 0; i < 5; i += 1) quota.add("a");
    expect([quota.isFull("a", 5), quota.isFull("a", 6)]).toEqual([true, false]);
  });

  it("leave() releases a slot and calls the listeners until they unsubscribe", () => {
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

  it("leave() throws for an account without a slot", () => {
    const quota = new JobQuota();
    quota.enter("a", 1);
    quota.leave("a");
    expect(() => quota.leave("a")).toThrow(/account a releases 1 and holds only 0/);
  });
});
