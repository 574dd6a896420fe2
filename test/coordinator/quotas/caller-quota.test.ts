import { describe, expect, it } from "vitest";
import { enterStream, streamPool } from "../../../coordinator/quotas/caller-quota.ts";

describe("enterStream()", () => {
  it("opens streams up to the limit of each account", () => {
    const quota = streamPool();
    enterStream(quota, "a", 1);
    enterStream(quota, "b", 1);
    expect(() => enterStream(quota, "a", 1)).toThrow(/concurrent_streams/);
  });

  it("releases a stream once, even if it is closed twice", () => {
    const quota = streamPool();
    const close = enterStream(quota, "a", 2);
    enterStream(quota, "a", 2);
    close();
    close();
    expect(quota.count("account", "a")).toBe(1);
  });
});
