import pg from "pg";
import { expect, it } from "vitest";
import { leaseConnection } from "../../../../coordinator/store/postgres/engine/lease-connection.ts";
import { systemClock } from "../../../../shared/clock.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";

const SELF = { address: "http://127.0.0.1:1", version: "1" };
await withDatabase(describeLease);

function describeLease(database: PostgresDatabase): void {
  it("renews the lease while all other connections wait for slow reads", async () => {
    const store = database.store(systemClock);
    const admin = new pg.Client(database.address);
    await admin.connect();
    await admin.query("BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE");
    let read = 0;
    const reads = Array.from({ length: 9 }, (_, index) =>
      store.accounts.limits(`user_${index}`).finally(() => (read += 1)),
    );
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'atoll' AND wait_event_type = 'Lock'";
    await expect.poll(async () => (await database.server.query(waiting)).rowCount).toBe(8);
    expect(await store.cluster.renew(SELF, 60_000)).toBe(false);
    expect(await store.cluster.peers()).toHaveLength(1);
    expect(await store.cluster.nowMs()).toBeGreaterThan(0);
    expect(read).toBe(0);
    await admin.query("COMMIT");
    await Promise.allSettled(reads);
    await store.cluster.leave();
    await store.close();
    await admin.end();
  });

  it("opens a new connection for the next call after the server has closed it", async () => {
    const lease = leaseConnection(database.address, 5_000);
    const pid = () => lease.use((session) => session.one<{ pid: number }>("SELECT pg_backend_pid() AS pid"));
    const first = await pid();
    await database.server.query(`SELECT pg_terminate_backend(${first?.pid})`);
    const left = `SELECT 1 FROM pg_stat_activity WHERE pid = ${first?.pid}`;
    await expect.poll(async () => (await database.server.query(left)).rowCount).toBe(0);
    await new Promise(setImmediate);
    expect(await pid()).not.toEqual(first);
    await lease.close();
  });

  it("aborts a call after its time limit, and opens a new connection for the next", async () => {
    const lease = leaseConnection(database.address, 200);
    const pid = () => lease.use((session) => session.one<{ pid: number }>("SELECT pg_backend_pid() AS pid"));
    const first = await pid();
    expect(await pid()).toEqual(first);
    const slow = lease.use((session) => session.all("SELECT pg_sleep(60)"));
    await expect(slow).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(await pid()).not.toEqual(first);
    await lease.close();
    await expect(pid()).rejects.toMatchObject({ code: "shutting_down" });
  });
}
