import { describe, expect, it } from "vitest";
import {
  eventStreams,
  MAX_ALL_STREAMS,
  MAX_EVENT_STREAMS,
} from "../../../../coordinator/http/limits/request-limits.ts";
import { enterStream, streamPool } from "../../../../coordinator/quotas/caller-quota.ts";

const ACCOUNT = "user_1";

function open(limit = 5) {
  const quota = streamPool();
  const enterEvents = eventStreams();
  const enter = (accountId = ACCOUNT) => enterEvents(accountId, () => enterStream(quota, accountId, limit));
  return { quota, enter };
}

describe("eventStreams()", () => {
  it("takes one slot for all streams of an account until the last one closes", async () => {
    const { quota, enter } = open();
    const [first, second] = [await enter(), await enter()];
    await enter("user_2");
    expect([quota.count("account", ACCOUNT), quota.count("account", "user_2")]).toEqual([1, 1]);
    first();
    first();
    await Promise.resolve();
    expect(quota.count("account", ACCOUNT)).toBe(1);
    second();
    await Promise.resolve();
    expect([quota.count("account", ACCOUNT), quota.count("account", "user_2")]).toEqual([0, 1]);
    (await enter())();
    await Promise.resolve();
    expect(quota.count("account", ACCOUNT)).toBe(0);
  });

  it("refuses an account without a free slot, and counts nothing", async () => {
    const { quota, enter } = open(1);
    const leave = enterStream(quota, ACCOUNT, 1);
    await expect(enter()).rejects.toMatchObject({ limit: "concurrent_streams" });
    leave();
    const close = await enter();
    expect(quota.count("account", ACCOUNT)).toBe(1);
    close();
  });

  it("releases its count when another coordinator refuses", async () => {
    const enterEvents = eventStreams();
    const refuse = (): Promise<never> => Promise.reject(new Error("full"));
    for (let i = 0; i <= MAX_EVENT_STREAMS; i += 1) await expect(enterEvents(ACCOUNT, refuse)).rejects.toThrow("full");
    await expect(enterEvents(ACCOUNT, () => () => undefined)).resolves.toBeTypeOf("function");
  });

  it("refuses streams beyond the limit of all accounts until one closes", async () => {
    const { quota, enter } = open();
    const closes = [];
    for (let i = 0; i < MAX_ALL_STREAMS; i += 1) closes.push(await enter(`user_${i}`));
    await expect(enter("late")).rejects.toMatchObject({ code: "overloaded" });
    expect(quota.count("account", "late")).toBe(0);
    closes[0]?.();
    await expect(enter("late")).resolves.toBeTypeOf("function");
  });

  it("refuses the eleventh stream of an account", async () => {
    const { enter } = open();
    for (let i = 0; i < MAX_EVENT_STREAMS; i += 1) await enter();
    await expect(enter()).rejects.toMatchObject({ limit: "concurrent_streams" });
  });
});
