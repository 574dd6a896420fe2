import { describe, expect, it } from "vitest";
import { deliveryQueue, decideOutcome } from "../../../coordinator/webhooks/webhook-sender.ts";

describe("deliveryQueue()", () => {
  it("lets accounts take turns", () => {
    const lines = deliveryQueue(100, 100);
    for (const id of ["a1", "a2", "a3"]) lines.push("a", id);
    for (const id of ["b1", "b2"]) lines.push("b", id);
    expect(Array.from({ length: 6 }, () => lines.take()?.id)).toEqual(["a1", "b1", "a2", "b2", "a3", undefined]);
  });

  it("holds back deliveries above the limits of an account and of all accounts", () => {
    const lines = deliveryQueue(3, 2);
    for (const id of ["a1", "a2", "a3", "a4"]) lines.push("a", id);
    for (const id of ["b1", "b2"]) lines.push("b", id);
    const [a1, b1, a2, none] = Array.from({ length: 4 }, () => lines.take());
    expect([a1?.id, b1?.id, a2?.id, none]).toEqual(["a1", "b1", "a2", undefined]);
    a1?.release();
    const b2 = lines.take();
    expect(b2?.id).toBe("b2");
    b1?.release();
    b2?.release();
    expect([lines.take()?.id, lines.take()?.id]).toEqual(["a3", undefined]);
  });
});

describe("decideOutcome()", () => {
  const facts = { attempts: 1, endedAtMs: 0, nowMs: 0, firstRetryMs: 5_000, random: () => 0.5 };

  it.each([
    [200, "delivered"],
    [299, "delivered"],
    [199, "pending"],
    [301, "pending"],
    [400, "pending"],
    [410, "failed"],
    [500, "pending"],
    [null, "pending"],
  ] as const)("for status %s returns %s", (status, state) => {
    expect(decideOutcome({ ...facts, status }).state).toBe(state);
  });

  it("varies a delay by a quarter in both directions", () => {
    const dueAt = (random: number) => decideOutcome({ ...facts, status: 500, random: () => random });
    expect(dueAt(0)).toEqual({ state: "pending", dueAtMs: 3_750 });
    expect(dueAt(0.999_999)).toEqual({ state: "pending", dueAtMs: 6_250 });
  });
});
