import { beforeEach, describe, expect, it } from "vitest";
import { openSuspensions, type Suspensions } from "../../../coordinator/operators/suspensions.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";

const LOOK_MS = 250;

let clock: ManualClock;
let accounts: Map<string, string>;
let islands: Map<string, string>;
let revision: number;
let reads: number;
let fault: Error | null;
let reported: string[];
let suspensions: Suspensions;

const look = async (): Promise<void> => {
  clock.advance(LOOK_MS);
  await new Promise((resolve) => setImmediate(resolve));
};

beforeEach(async () => {
  clock = new ManualClock();
  [accounts, islands, reported] = [new Map([["user_old", "spam"]]), new Map(), []];
  [revision, reads, fault] = [1, 0, null];
  const credentials = {
    revision: async () => {
      if (fault !== null) throw fault;
      return revision;
    },
  };
  const store = {
    operators: {
      suspensions: async () => {
        reads += 1;
        return { accounts: new Map(accounts), islands: new Map(islands) };
      },
    },
  };
  suspensions = await openSuspensions(testEnv({}, { clock }), store as unknown as Store, credentials);
  suspensions.onAccounts((ids) => void reported.push(...ids));
  suspensions.onIslands((ids) => void reported.push(...ids));
});

describe("openSuspensions()", () => {
  it("reads suspensions at the start, and afterwards only after a change", async () => {
    expect(suspensions.reasonFor("host", "user_old")).toBe("the operator suspended this Island's account: spam");
    expect(suspensions.reasonFor("host", "user_1")).toBeNull();
    for (let looks = 0; looks < 5; looks += 1) await look();
    expect(reads).toBe(1);
  });

  it("reports suspended accounts twice and Islands once", async () => {
    // This covers jobs that were restored before the start as well.
    await look();
    expect(reported).toEqual(["user_old"]);
    accounts.set("user_1", "spam");
    islands.set("host_1", "lies");
    revision += 1;
    await look();
    expect(reported).toEqual(["user_old", "user_1", "host_1"]);
    await look();
    await look();
    expect(reported).toEqual(["user_old", "user_1", "host_1", "user_1"]);
    expect(suspensions.reasonFor("host_1", "user_2")).toBe("the operator suspended this Island: lies");
  });

  it("reports all suspended accounts once a minute", async () => {
    for (let looks = 0; looks < 239; looks += 1) await look();
    expect(reported).toEqual(["user_old", "user_old"]);
  });

  it("applies a local change when changed() resolves, and the end of a suspension", async () => {
    accounts.set("user_1", "spam");
    revision += 1;
    await suspensions.changed();
    expect(reported).toContain("user_1");
    accounts.delete("user_1");
    revision += 1;
    await suspensions.changed();
    expect(suspensions.reasonFor("host", "user_1")).toBeNull();
  });

  it("keeps its state while storage is unavailable, and polls again", async () => {
    fault = new Error("away");
    accounts.set("user_1", "spam");
    revision += 1;
    await look();
    expect(suspensions.reasonFor("host", "user_old")).not.toBeNull();
    fault = null;
    await look();
    expect(reported).toContain("user_1");
  });

  it("stops polling once it is closed", () => {
    suspensions.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
