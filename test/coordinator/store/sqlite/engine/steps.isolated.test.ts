import Database from "better-sqlite3";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { migrate } from "../../../../../coordinator/store/sqlite/engine/migrate.ts";
import { TransactionRunner } from "../../../../../coordinator/store/sqlite/engine/transaction-runner.ts";
import { MIGRATIONS } from "../../../../../coordinator/store/sqlite/migrations/all.ts";
import { write, type Step } from "../../../../../coordinator/store/steps.ts";
import { ServiceError } from "../../../../../shared/errors.ts";
import { systemClock } from "../../../../../shared/clock.ts";

const ADD = "UPDATE checks SET count = count + 1";

const steps: Record<string, Step> = {
  "test.add": write((tx) => tx.run(ADD)),
  "test.refuse": write(async (tx) => {
    await tx.run(ADD);
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

describe("TransactionRunner, with steps of stores", () => {
  let db: Database.Database;
  let runner: TransactionRunner;
  const count = (): unknown => db.prepare("SELECT count FROM checks").pluck().get();

  beforeEach(() => {
    db = new Database(":memory:");
    migrate(db, MIGRATIONS, 0);
    runner = new TransactionRunner(db);
  });

  it("takes back what a step wrote before it refused, and commits the others", async () => {
    const { values, failures, commits } = await runner.run([
      ["test.add", []],
      ["test.refuse", []],
      ["test.add", []],
    ]);
    expect(values).toEqual([1, undefined, 1]);
    expect(failures).toEqual([[1, expect.objectContaining({ kind: "service", code: "not_found" })]]);
    expect([count(), commits]).toEqual([2, 1]);
  });

  it("fails a step that awaits something other than its transaction, and nothing that it writes is stored", async () => {
    const { failures } = await runner.run([["test.wait", []]]);
    const message = "The step test.wait awaits something other than its transaction";
    expect(failures).toEqual([[0, { kind: "fault", message }]]);
    await systemClock.sleep(5);
    await runner.run([["test.add", []]]);
    expect(count()).toBe(1);
  });
});
