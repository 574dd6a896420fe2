import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../support/manual-clock.ts";
import { IS_POSTGRES, openTestStore, locationFor, runSql, type TestStore } from "../../support/store/test-store.ts";
import { temporaryFolder } from "./contract/store-builders.ts";

describe("the audit log in storage", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: TestStore;
  beforeEach(async () => {
    folder = temporaryFolder();
    store = await openTestStore({ path: folder.file("atoll.db"), clock: new ManualClock() });
    const entry = {
      via: "command",
      actor: "root",
      origin: "host",
      action: "a",
      targetKind: "cargo",
      targetId: "t",
    } as const;
    await store.audit.append({ ...entry, atMs: 1, before: null, after: 1 });
  });
  afterEach(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });

  it.each([
    "UPDATE audit_log SET actor = 'nobody'",
    "DELETE FROM audit_log",
    IS_POSTGRES
      ? "TRUNCATE audit_log"
      : `INSERT OR REPLACE INTO audit_log SELECT id, at_ms, via, 'nobody', origin, action, target_kind, target_id, before, after
         FROM audit_log`,
  ])("refuses %s", async (sql) => {
    const path = folder.file("atoll.db");
    const location = await locationFor(IS_POSTGRES ? path : folder.path);
    expect(() => runSql(location, sql)).toThrow(/append-only/);
    const { lines } = await store.audit.list({}, { limit: 10, offset: 0 });
    expect(lines).toMatchObject([{ actor: "root", after: 1 }]);
  });
});
