import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { TimeoutError } from "../../sdk/typescript/src/index.ts";
import { collect } from "../support/http/http.ts";
import { CARGO, failed, finished, output, SdkFixture, token } from "./sdk-fixture.ts";

const INPUTS = [{ prompt: "one" }, { prompt: "two" }, { prompt: "three" }];

let fixture: SdkFixture;
beforeAll(async () => {
  fixture = await SdkFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.proxy.script());

/** Runs each job of a batch as the Island and ends it as `ends` specifies, in the order of the inputs. */
async function runAll(jobs: readonly { id: string }[], ends: readonly ("finished" | "failed")[]): Promise<void> {
  for (const [index, { id }] of jobs.entries()) {
    const assign = await fixture.taken(id);
    fixture.island.send(output(assign, 1, token(String(index))));
    fixture.island.send(ends[index] === "failed" ? failed(assign, 2) : finished(assign, 2));
  }
}

describe("batches", () => {
  it("are submitted once despite lost responses, and can be awaited", async () => {
    const { batches, jobs } = fixture.client();
    fixture.proxy.script({ kind: "swallow" }, { kind: "refuse" });
    const batch = await batches.submit({ workload: CARGO, inputs: INPUTS });
    expect(fixture.proxy.seen).toHaveLength(3);
    expect(await collect(jobs.list({ batch: batch.id }))).toHaveLength(3);
    expect((await jobs.list().page()).meta.total).toBe(3);

    const waited = batches.wait(batch.id);
    await runAll(batch.jobs, ["finished", "failed", "finished"]);
    expect(await waited).toMatchObject({
      id: batch.id,
      status: "failed",
      counts: { total: 3, completed: 2, failed: 1 },
    });
    expect((await jobs.get(batch.jobs[2]?.id ?? "")).output).toBe("2");
    const read = async (outputOffset?: number) =>
      (await batches.get(batch.id, { include: "output", outputOffset })).jobs.map(({ output: text }) => text);
    expect([await read(), await read(2)]).toEqual([
      ["0", null, "2"],
      [undefined, undefined, "2"],
    ]);
  });

  it("can be cancelled, and cancelled again", async () => {
    const { batches } = fixture.client();
    const { id } = await batches.submit({ workload: CARGO, inputs: INPUTS, fail_mode: "fail_fast" });
    expect(await batches.cancel(id)).toMatchObject({ id, counts: { cancelled: 3 } });
    expect(await batches.cancel(id)).toMatchObject({ status: "cancelled" });
    expect(await batches.wait(id)).toMatchObject({ status: "cancelled" });
  });

  it("are awaited for at most timeoutMs", async () => {
    const { batches } = fixture.client();
    const { id } = await batches.submit({ workload: CARGO, inputs: INPUTS });
    await expect(batches.wait(id, { timeoutMs: 40 })).rejects.toBeInstanceOf(TimeoutError);
    expect((await batches.get(id)).status).not.toBe("cancelled");
    await batches.cancel(id);
  });
});
