import { beforeEach, describe, expect, it } from "vitest";
import { accountEvents, GATHER_MS, type AccountEvents } from "../../../coordinator/events/account-events.ts";
import { watchAuditLog } from "../../../coordinator/events/watch-changes.ts";
import type { AuditEventRef } from "../../../coordinator/store/accounts/audit-log.ts";
import type { KnownIsland } from "../../../coordinator/store/accounts/operators.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { TestReader } from "./event-builders.ts";

const ACCOUNT = "user_1";

let clock: ManualClock;
let events: AccountEvents;
/** Audit events, newest first. */
let log: AuditEventRef[];
let looks = 0;
let isAway = false;
beforeEach(() => {
  clock = new ManualClock();
  events = accountEvents(clock);
  [log, looks, isAway] = [[], 0, false];
  const latest = async (limit: number): Promise<AuditEventRef[]> => {
    looks += 1;
    if (isAway) throw new Error("away");
    return log.slice(0, limit);
  };
  const island = async (hostId: string) => ({ hostId, accountId: ACCOUNT }) as KnownIsland;
  watchAuditLog(events, { audit: { latest }, operators: { island } }, clock);
});

function did(action: string, targetId = ACCOUNT, atMs = clock.now()): void {
  const targetKind = action.startsWith("island") ? "island" : "account";
  log.unshift({ id: log.length + 1, atMs, action, targetKind, targetId });
}

/** Polls once, and waits until the changes are merged. */
async function look(): Promise<void> {
  clock.advance(1_000);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(GATHER_MS);
}

describe("audit events of operators", () => {
  it("are reported once to the affected accounts", async () => {
    did("account.limits", ACCOUNT, clock.now() - 120_000);
    const reader = await TestReader.open(events, ACCOUNT);
    await look();
    expect(reader.read()).toEqual([]);
    did("account.grant");
    did("account.suspend", "user_2");
    await look();
    expect(reader.read()).toEqual(["balance"]);
    await look();
    expect(reader.read()).toEqual([]);
    did("account.role");
    did("island.suspend", "host_1");
    await look();
    expect(reader.read().sort()).toEqual(["account", "host_1"]);
  });

  it("are not read without listeners", async () => {
    did("account.grant");
    await look();
    expect(looks).toBe(0);
    const reader = await TestReader.open(events, ACCOUNT);
    await look();
    // The change may have been made while the reader connected.
    expect([looks, reader.read()]).toEqual([1, ["balance"]]);
    reader.close();
    await look();
    expect(looks).toBe(1);
    events.close();
    await look();
    expect(clock.pendingTimers).toBe(0);
  });

  it("are found once storage is available again", async () => {
    const reader = await TestReader.open(events, ACCOUNT);
    isAway = true;
    did("account.grant");
    await look();
    isAway = false;
    await look();
    expect(reader.read()).toEqual(["balance"]);
  });
});
