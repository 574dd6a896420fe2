import { describe, expect, it } from "vitest";
import { Link } from "../../chaos/link.ts";
import type { Atoll } from "../../../sdk/typescript/src/index.ts";
import { finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { commitBefore, hasFileAt, OlderVersion } from "../../support/network/older-version.ts";
import { soakRounds } from "../../support/soak-rounds.ts";
import {
  api,
  coordinator,
  headStart,
  JOB,
  LANES,
  makeKeys,
  PRICE,
  race,
  RESULT,
  RUNTIMES,
  submit,
} from "./race-world.ts";

const ROUNDS = soakRounds(1_000);
const JOBS_FILE = "sdk/typescript/src/resources/jobs.ts";
/** The client before `DELETE /jobs/{id}` only cancelled. Its `delete` sends a plain DELETE, its `cancel` `if_ended`. */
const COMMIT = commitBefore("if_ended", JOBS_FILE);
const hasCommit = hasFileAt(COMMIT, JOBS_FILE);

/** The parts of the older client that the test calls. */
interface OlderAtoll {
  readonly jobs: Pick<Atoll["jobs"], "cancel"> & { delete(id: string): Promise<void> };
}
type OlderClient = new (options: { readonly baseUrl: string; readonly apiKey: string }) => OlderAtoll;

describe(`${ROUNDS} cancels of an older client over a link that breaks`, () => {
  it.runIf(hasCommit)("leave every finished output in place", { timeout: 240_000 }, async () => {
    await using older = await OlderVersion.open(COMMIT);
    const { Atoll: Older } = (await import(older.client)) as { Atoll: OlderClient };
    await using link = await Link.open(Number(new URL(coordinator.url).port));
    const keys = await makeKeys("late", ROUNDS * PRICE);
    const owner = await coordinator.createAccount("owner-of-late@example.com", 0);
    const clients = keys.map((apiKey) => new Older({ baseUrl: link.url, apiKey }));
    const hello = { runtimes: RUNTIMES, slots: LANES };
    await using island = await FakeIsland.join(coordinator.url, owner.islandToken, hello);
    let late = 0;
    await race(ROUNDS, async (lane, index) => {
      const [key, client] = [keys[lane] as string, clients[lane] as OlderAtoll];
      const jobId = (await submit(key)).body.data.id as string;
      const assign = await island.next("assign", (frame) => frame.jobId === jobId);
      island.send({ type: "started", jobId, attempt: assign.attempt });
      const finish = async (): Promise<void> => {
        island.send(finishedFrame(assign, 1, RESULT));
        await island.next("ack", (ack) => ack.jobId === jobId);
      };
      if (index % 3 === 0) await finish();
      const cancelled = index % 2 === 0 ? client.jobs.cancel(jobId) : client.jobs.delete(jobId);
      // Without a fault, the request also fails if the job has completed.
      const settled = cancelled.catch(() => undefined);
      await headStart(index);
      if (index % 5 === 0) link.reset();
      if (index % 3 !== 0) await finish();
      await settled;
      const { data } = (await api(key, "GET", `/jobs/${jobId}`)).body;
      if (data.status === "completed") {
        expect(data).toMatchObject({ input: JOB.input, output: RESULT.output });
        late += 1;
      } else expect(data.status).toBe("cancelled");
    });
    expect(late).toBeGreaterThanOrEqual(ROUNDS / 3);
  });
});
