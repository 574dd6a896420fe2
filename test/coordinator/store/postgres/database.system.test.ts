import { afterAll, expect, it } from "vitest";
import { openDatabase } from "../../../../coordinator/store/postgres/engine/database.ts";
import { postgresSteps } from "../../../../coordinator/store/postgres/engine/postgres-steps.ts";
import { openStore, read, snapshotRead } from "../../../../coordinator/store/steps/steps.ts";
import type { Tx } from "../../../../coordinator/store/steps/tx.ts";
import { systemClock } from "../../../../shared/clock.ts";
import type { PostgresServer } from "../../../support/servers/postgres-server.ts";
import { withPostgres } from "../../../support/servers/with-servers.ts";

await withPostgres(describeDatabase);

function describeDatabase(server: PostgresServer): void {
  const db = openDatabase(server.addressOf("postgres"), systemClock);
  afterAll(() => db.close());

  it("transact() survives the loss of its connection between two statements", async () => {
    let tries = 0;
    const lost = db.transact(async (session) => {
      tries += 1;
      const { pid } = (await session.one<{ pid: number }>("SELECT pg_backend_pid() AS pid")) ?? { pid: 0 };
      await server.query(`SELECT pg_terminate_backend(${pid})`);
      // The connection detects the loss while it is idle.
      await systemClock.sleep(100);
      return session.one("SELECT 1");
    });
    await expect(lost).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(tries).toBe(1);
    expect(await db.transact((session) => session.one("SELECT 1 AS one"))).toEqual({ one: 1 });
  });

  it("a snapshotRead sees one state of the database, and a plain read sees concurrent writes", async () => {
    await server.query("CREATE TABLE things (id int)");
    const countTwice = async (tx: Tx) => {
      const count = () => tx.only<{ things: number }>("SELECT count(*) AS things FROM things");
      const { things: before } = await count();
      await server.query("INSERT INTO things VALUES (1)");
      return [before, (await count()).things];
    };
    const steps = { read: read(countTwice), snapshot: snapshotRead(countTwice) };
    const store = openStore("test", steps, postgresSteps(db, "c1"));
    expect(await store.snapshot()).toEqual([0, 0]);
    expect(await store.read()).toEqual([1, 2]);
  });

  it("untilAvailable() retries until the server is back, and ends with the store", async () => {
    await server.kill();
    const done = db.untilAvailable(() => db.use((session) => session.one("SELECT 2 AS two")));
    await expect(db.use((session) => session.one("SELECT 1"))).rejects.toMatchObject({ code: "storage_unavailable" });
    await server.restart();
    expect(await done).toEqual({ two: 2 });
    await server.kill();
    const other = openDatabase(server.addressOf("postgres"), systemClock);
    const never = other.untilAvailable(() => other.use((session) => session.one("SELECT 3")));
    await other.close();
    await expect(never).rejects.toMatchObject({ code: "shutting_down" });
    await server.restart();
  });
}
