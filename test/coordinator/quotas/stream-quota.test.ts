import { describe, expect, it } from "vitest";
import { StreamQuota } from "../../../coordinator/quotas/stream-quota.ts";

describe("StreamQuota", () => {
  it("enter() opens streams up to the limit, by account", () => {
    const quota = new StreamQuota();
    quota.enter("a", 1);
    quota.enter("b", 1);
    expect(() => quota.enter("a", 1)).toThrow(/concurrent_streams/);
  });

  it("a stream closed twice gives one place back", () => {
    const quota = new StreamQuota();
    const close = quota.enter("a", 2);
    quota.enter("a", 2);
    close();
    close();
    expect(quota.count("a")).toBe(1);
  });
});
