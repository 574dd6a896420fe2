import Database from "better-sqlite3";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { grantPostings } from "../../../../../coordinator/credits/postings.ts";
import { migrate } from "../../../../../coordinator/store/sqlite/engine/migrate.ts";
import {
  transactionRunner,
  type TransactionRunner,
} from "../../../../../coordinator/store/sqlite/engine/transaction-runner.ts";
import { MIGRATIONS } from "../../../../../coordinator/store/sqlite/migrations.ts";
import { write, type Step } from "../../../../../coordinator/store/steps/steps.ts";
import { ServiceError } from "../../../../../shared/errors.ts";
import { systemClock } from "../../../../../shared/clock.ts";

const ADD = "UPDATE checks SET count = count + 1";

const steps: Record<string, Step> = {
  "test.add": write((tx) => tx.run(ADD)),
  "test.refuse": write(async (tx) => {
    await tx.run(ADD);
    throw new ServiceError("not_found", "There is no such thing");
  }),
  "test.post": write((tx) => tx.post(grantPostings("a", 5), 1)),
  "test.postAndRefuse": write(async (tx) => {
    await tx.post(grantPostings("a", 7), 1);
    throw new ServiceError("not_found", "There is no such thing");
  }),
  "test.wait": write(async (tx) => {
    await tx.run(ADD);
    await systemClock.sleep(1);
    await tx.run(ADD);
  }),
};

vi.mock(import("../../../../../coordinator/store/all-steps.ts"), async (load) => ({
  ...(await load()),
  stepNamed: (name: string) => steps[name] as Step,
}));

describe("transactionRunner() with steps of stores", () => {
  let db: Database.Database;
  let runner: TransactionRunner;
  const count = (): unknown => db.prepare("SELECT count FROM checks").pluck().get();

  beforeEach(() => {
    db = new Database(":memory:");
    migrate(db, MIGRATIONS, 0);
    runner = transactionRunner(db);
  });

  it("rolls back a step that refuses after a write, and commits the others", async () => {
    const { values, failures, commits } = await runner.run([
      ["test.add", []],
      ["test.refuse", []],
      ["test.add", []],
    ]);
    expect(values).toEqual([1, undefined, 1]);
    expect(failures).toEqual([[1, expect.objectContaining({ kind: "service", code: "not_found" })]]);
    expect([count(), commits]).toEqual([2, 1]);
  });

  it("fails a step that refuses after posting, and stores only the postings of others", async () => {
    db.exec("INSERT INTO balances (party, micro) VALUES ('client:a', 0)");
    const { failures } = await runner.run([
      ["test.post", []],
      ["test.postAndRefuse", []],
      ["test.post", []],
    ]);
    const message = "Step test.postAndRefuse must not refuse after it has posted";
    expect(failures).toEqual([[1, { kind: "fault", message }]]);
    expect(db.prepare("SELECT micro FROM balances WHERE party = 'client:a'").pluck().get()).toBe(10);
    expect(db.prepare("SELECT sum(micro), count(*) FROM entries").raw().get()).toEqual([0, 4]);
  });

  it("fails a step that awaits anything but its transaction, and stores nothing of it", async () => {
    const { failures } = await runner.run([["test.wait", []]]);
    const message = "Step test.wait must not await anything but its transaction";
    expect(failures).toEqual([[0, { kind: "fault", message }]]);
    await systemClock.sleep(5);
    await runner.run([["test.add", []]]);
    expect(count()).toBe(1);
  });
});
