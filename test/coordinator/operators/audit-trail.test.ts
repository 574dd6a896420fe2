import { beforeEach, describe, expect, it } from "vitest";
import { AuditTrail } from "../../../coordinator/operators/audit-trail.ts";
import type { AuditEntry } from "../../../coordinator/store/audit-log.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const ACTOR = { via: "api", actor: "user_op", origin: "192.0.2.1" } as const;
const DEED = {
  action: "account.suspend",
  targetKind: "account",
  targetId: "user_1",
  after: { because: "spam" },
} as const;

let entries: AuditEntry[];
let fault: Error | null;
let trail: AuditTrail;
beforeEach(() => {
  [entries, fault] = [[], null];
  const append = async (entry: AuditEntry): Promise<void> => {
    if (fault !== null) throw fault;
    entries.push(entry);
  };
  trail = new AuditTrail({ append }, new ManualClock());
});

describe("AuditTrail.record()", () => {
  it("notes a deed before it is done", async () => {
    const noted = await trail.record(ACTOR, DEED, async () => entries.length);
    expect(noted).toBe(1);
    expect(entries).toMatchObject([{ ...ACTOR, ...DEED, before: null }]);
  });

  it("does nothing that cannot be noted", async () => {
    fault = new Error("read-only");
    let isDone = false;
    const deed = trail.record(ACTOR, DEED, async () => void (isDone = true));
    await expect(deed).rejects.toThrow("read-only");
    expect(isDone).toBe(false);
  });

  it.each([
    [new ServiceError("not_found", "secret text"), "not_found"],
    [new Error("secret text"), "internal"],
  ])("notes that a deed failed, without its message", async (error, code) => {
    await expect(trail.record(ACTOR, DEED, () => Promise.reject(error))).rejects.toBe(error);
    expect(entries).toHaveLength(2);
    expect(entries[1]).toMatchObject({ action: "account.suspend.failed", targetId: "user_1", after: { code } });
    expect(JSON.stringify(entries)).not.toContain("secret");
  });
});
