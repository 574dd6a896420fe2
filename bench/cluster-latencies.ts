import { randomBytes } from "node:crypto";
import { openNatsBus } from "../coordinator/bus/nats-bus.ts";
import { openPostgresStore } from "../coordinator/store/postgres/postgres-store.ts";
import { SecretBox } from "../coordinator/store/secrets/secret-box.ts";
import { systemClock } from "../shared/clock.ts";
import { makeAccount, makeJob } from "../test/coordinator/store/contract/store-builders.ts";
import { NatsServer } from "../test/support/servers/nats-server.ts";
import { PostgresServer } from "../test/support/servers/postgres-server.ts";
import { p50AndP99 } from "./harness/statistics.ts";
import { machineMs } from "./load/frames.ts";

/** Measures the operations of `cells/latency.ts` on this machine, with a sync for each commit. */

const ROUNDS = 300;
/**
 * Maximum number of jobs to move. Each job moves only once, because PostgreSQL keeps all versions of a frequently
 * updated row for a while.
 */
const MAX_MOVED = 20_000;
const LEASE_MS = 600_000;
const log = { warn: () => undefined, info: () => undefined };

async function measure(name: string, rounds: number, one: (round: number) => Promise<unknown>): Promise<void> {
  const tookMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const beganMs = machineMs();
    await one(round);
    tookMs.push(machineMs() - beganMs);
  }
  // The first rounds run code that is not compiled yet.
  const { p50, p99 } = p50AndP99(tookMs.slice(Math.floor(rounds / 10)));
  console.log(`${name.padEnd(44)} p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`);
}

await using opened = new AsyncDisposableStack();
const nats = opened.use(await NatsServer.start());
const postgres = opened.use(await PostgresServer.start({ isDurable: true }));

const [requester, responder] = await Promise.all(
  ["requester", "responder"].map((name) => openNatsBus({ servers: nats.address }, name, { clock: systemClock, log })),
);
if (requester === undefined || responder === undefined) throw new Error("The bus is not open");
opened.defer(async () => void (await Promise.all([requester.close(), responder.close()])));
responder.handle("latency", async (message) => message);
// A reply shows that the server has registered the subscription.
await requester.request("latency", {}, 5_000).catch(() => systemClock.sleep(100));
await measure("bus: request and reply (two messages)", 5 * ROUNDS, () =>
  requester.request("latency", { jobs: 1 }, 5_000),
);

const address = await postgres.createDatabase("bench");
const secrets = new SecretBox(randomBytes(32));
const [one, two] = await Promise.all(
  ["bench_1", "bench_2"].map((ownerId) => openPostgresStore({ address, clock: systemClock, ownerId, secrets })),
);
if (one === undefined || two === undefined) throw new Error("The stores are not open");
opened.defer(async () => void (await Promise.all([one.close(), two.close()])));
for (const store of [one, two]) await store.cluster.renew({ address: "http://127.0.0.1:1", version: "1" }, LEASE_MS);
const accountId = await makeAccount(one, { grantMicro: 1_000_000_000_000 });
await measure("submission, one at a time", ROUNDS, () => one.jobs.submit(makeJob(accountId)));
for (const count of [1, 16, 256]) {
  const rounds = Math.min(ROUNDS, Math.floor(MAX_MOVED / count));
  const parts: string[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const jobs = Array.from({ length: count }, () => makeJob(accountId));
    await Promise.all(jobs.map((job) => one.jobs.submit(job)));
    parts.push(jobs.map(({ id }) => id));
  }
  // Discards query plans that were made when the table was small, as autovacuum does within a minute.
  await postgres.query("VACUUM ANALYZE jobs", "bench");
  const name = `${count} ${count === 1 ? "job" : "jobs"}`;
  const expectAll = ({ length }: readonly unknown[]): void => {
    if (length !== count) throw new Error(`${length} of ${count} jobs were transferred`);
  };
  await measure(`transfer of ${name}`, rounds, async (round) =>
    expectAll(await one.cluster.transfer(parts[round] ?? [], "bench_2")),
  );
  await measure(`read of ${name} that came`, rounds, async (round) =>
    expectAll(await two.cluster.owned(parts[round] ?? [])),
  );
}
