import { describe, expect, it } from "vitest";
import { FairShare, goesFirst, newSharer } from "../../../coordinator/scheduler/fair-share.ts";

describe("FairShare", () => {
  it("gives a sharer no credit for time in which it did not wait", () => {
    const fair = new FairShare();
    const [busy, late] = [newSharer(100), newSharer(100)];
    fair.enter(busy);
    for (let count = 0; count < 5; count += 1) fair.charge(busy, 1_000);
    fair.enter(late);
    expect([late.tag, busy.tag]).toEqual([4_000, 5_000]);
  });

  it("never moves a sharer ahead of one that has waited longer by a correction", () => {
    const fair = new FairShare();
    const [first, waiting] = [newSharer(100), newSharer(100)];
    fair.enter(first);
    const charged = [fair.charge(first, 1_000), fair.charge(first, 1_000), fair.charge(first, 1_000)];
    fair.enter(waiting);
    for (const cost of charged) fair.settle(first, cost, 0);
    expect(first.tag).toBe(fair.virtualMs);
    expect(goesFirst(waiting, first)).toBe(true);
  });

  it("corrects the error of an estimate in proportion to the share", () => {
    const fair = new FairShare();
    const sharer = newSharer(200);
    fair.enter(sharer);
    const charged = fair.charge(sharer, 1_000);
    expect([charged, sharer.tag]).toEqual([500, 500]);
    fair.settle(sharer, charged, 9_000);
    expect(sharer.tag).toBe(4_500);
  });
});
