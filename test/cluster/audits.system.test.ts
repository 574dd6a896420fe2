import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStore } from "../../coordinator/store/open-store.ts";
import { systemClock } from "../../shared/clock.ts";
import { call, until } from "../support/http/http.ts";
import { Cluster } from "../support/network/cluster.ts";
import { startIslandProcess } from "../support/network/island-process.ts";
import { LIES, LyingIsland } from "../support/network/lying-island.ts";

const MAX_JOBS_OF_LIAR = 30;
const CLIENTS = 4;
const MAX_JOBS = 200;
const ENDED = ["completed", "failed", "cancelled", "timeout"];

const opened = new AsyncDisposableStack();
let cluster: Cluster;
let key: string;
/** Account ids of the liars. */
const owners = new Map<string, string>();
const liars = new Map<string, LyingIsland>();

beforeAll(async () => {
  cluster = opened.use(await Cluster.open());
  const directory = await mkdtemp(join(tmpdir(), "atoll-audits-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  ({ key } = cluster.createAccount("client@example.com", 1_000, { concurrentJobs: 2 * CLIENTS }));
  // Each coordinator has the Islands of an honest owner and of a liar.
  const honest = ["one", "two", "three"].map(async (name, index) => {
    const { islandToken } = cluster.createAccount(`${name}@example.com`, 0);
    const joined = { location: cluster.location, urls: cluster.islandUrls(index) };
    opened.use(await startIslandProcess(joined, join(directory, name), islandToken));
  });
  await Promise.all(honest);
  for (const [index, [name, tokens]] of Object.entries(LIES).entries()) {
    const { id, islandToken } = cluster.createAccount(`${name}@example.com`, 0);
    owners.set(name, id);
    liars.set(name, opened.use(await LyingIsland.join(cluster.islandUrls(index), islandToken, tokens)));
  }
}, 120_000);
afterAll(() => opened.disposeAsync());

/** Submits a chat and waits for its end. A killed coordinator loses requests, but no job. */
async function chat(nth: number): Promise<void> {
  const input = { prompt: `What is ${nth % 9} plus ${(3 * nth) % 9}?`, max_tokens: 40 };
  const headers = { "idempotency-key": `chat-${nth}` };
  const request = (method: string, path: string, body?: unknown) =>
    call(cluster.nextUrl(), key, method, path, body, headers).catch(() => null);
  const body = { workload: "tiny-chat", input };
  const sent = await until(
    () => request("POST", "/jobs", body),
    (response) => response !== null && response.status < 300,
    "a job",
  );
  const path = `/jobs/${sent?.body.data.id}?wait=10`;
  const ended = await until(
    () => request("GET", path),
    (response) => ENDED.includes(response?.body?.data?.status),
    "the end of a job",
  );
  expect(ended?.body.data.status).toBe("completed");
}

it("three liars among six owners are found although a coordinator is killed", { timeout: 300_000 }, async () => {
  const store = await openStore(cluster.location, systemClock);
  opened.defer(() => store.close());
  const quarantined = async (): Promise<string[]> => {
    const { standings } = await store.audits.standings(0);
    const ids = standings.flatMap((each) => (each.standing.state === "quarantined" ? [each.ownerAccountId] : []));
    return [...owners].flatMap(([name, id]) => (ids.includes(id) ? [name] : []));
  };
  const count = async (from: string): Promise<number> =>
    Number(await cluster.read<string>(`SELECT count(*) FROM ${from}`));
  let nth = 0;
  const client = async (): Promise<void> => {
    while (nth < MAX_JOBS && (await quarantined()).length < liars.size) await chat((nth += 1));
  };
  const clients = Array.from({ length: CLIENTS }, client);
  const [victim] = cluster.members;
  const dueAtVictim = `audits JOIN coordinators ON coordinators.id = auditor_id
    WHERE verdict = 'due' AND coordinators.address = '${victim?.islands.url}'`;
  await until(
    () => count(dueAtVictim),
    (due) => due > 0,
    "a due audit",
  );
  await victim?.end("SIGKILL");
  await Promise.all(clients);

  expect(new Set(await quarantined())).toEqual(new Set(liars.keys()));
  for (const [name, { answered }] of liars) expect(answered, name).toBeLessThanOrEqual(MAX_JOBS_OF_LIAR);
  // Nothing is left of the killed coordinator: its audits were adopted, and its readings ended.
  await until(
    () => count("audits WHERE verdict = 'due'"),
    (due) => due === 0,
    "the end of all audits",
  );
  await until(
    () => count("jobs WHERE state IN ('pending', 'queued', 'running')"),
    (unfinished) => unfinished === 0,
    "the end of all readings",
  );
  const copies = `job_inputs JOIN jobs ON jobs.id = job_inputs.job_id WHERE terms IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM removals WHERE removals.id = jobs.id)`;
  expect(await count(copies), "prompts that stay").toBe(0);
  for (const [name, id] of owners) {
    const { lines } = await store.ledger.list(id, { limit: 100, offset: 0 });
    expect(
      lines.filter(({ kind }) => kind === "earning"),
      name,
    ).toEqual([]);
    expect(await count(`audits WHERE owner_account_id = '${id}' AND earning <> 'refunded'`), name).toBe(0);
  }
  expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [] });
});
