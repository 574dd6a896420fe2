import { beforeEach, describe, expect, it } from "vitest";
import { auditTrail, type AuditTrail } from "../../../coordinator/operators/audit-trail.ts";
import type { NotedStores } from "../../../coordinator/store/all-steps.ts";
import type { AuditEntry } from "../../../coordinator/store/accounts/audit-log.ts";
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
  const noting = (entry: AuditEntry) => ({ operators: { setRole: () => append(entry) } }) as unknown as NotedStores;
  trail = auditTrail({ append, noting }, new ManualClock());
});

describe("AuditTrail.record()", () => {
  it("leaves the line to the write of the auditEvent", async () => {
    await trail.record(ACTOR, DEED, async () => expect(entries).toEqual([]));
    expect(entries).toEqual([]);
    await trail.record(ACTOR, DEED, ({ operators }) => operators.setRole("user_1", "user"));
    expect(entries).toMatchObject([{ ...ACTOR, ...DEED, before: null }]);
  });

  it("notes a auditEvent that is refused, with what was tried, without its message", async () => {
    const error = new ServiceError("not_found", "secret text");
    await expect(trail.record(ACTOR, DEED, () => Promise.reject(error))).rejects.toBe(error);
    const after = { code: "not_found", tried: { because: "spam" } };
    expect(entries).toMatchObject([{ action: "account.suspend.failed", targetId: "user_1", after }]);
    expect(JSON.stringify(entries)).not.toContain("secret");
  });

  it.each([new ServiceError("storage_unavailable", "away"), new Error("fault")])(
    "says nothing of a auditEvent whose end is not known: %s",
    async (error) => {
      await expect(trail.record(ACTOR, DEED, () => Promise.reject(error))).rejects.toBe(error);
      expect(entries).toEqual([]);
    },
  );

  it("gives the caller the refusal where it cannot be noted", async () => {
    fault = new Error("read-only");
    const error = new ServiceError("not_found", "none");
    await expect(trail.record(ACTOR, DEED, () => Promise.reject(error))).rejects.toBe(error);
  });
});
