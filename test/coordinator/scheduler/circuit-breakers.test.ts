import { describe, expect, it } from "vitest";
import { Bench, makeCargo } from "./builders.ts";

const SECOND_MS = 1_000;
/** One Cargo that every Island runs, and two others. */
const cargos = ["llama", "gemma", "phi"].map((slug) => makeCargo({ slug }));

/** Fails each job on an Island as soon as it is assigned. Returns the times of the assignments in seconds. */
function failJobs(bench: Bench, count: number, override: Parameters<Bench["fail"]>[1] = {}): number[] {
  return Array.from({ length: count }, (_, index) => {
    const accountId = override.accountId ?? `user_${index % 2}`;
    const jobId = `job_${index}`;
    const served = bench.submit({ id: jobId, accountId });
    if (served.length === 0) served.push(...bench.pass((bench.scheduler.nextWakeMs ?? 0) - bench.nowMs));
    expect(served).toEqual([`${jobId} on isle-1`]);
    bench.fail("isle-1", { ...override, accountId });
    bench.free("isle-1", jobId);
    return Math.round(bench.nowMs / SECOND_MS);
  });
}

function differences(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

describe("a circuit breaker after a failure", () => {
  it("stops jobs of the Cargo while they wait for a busy Island, but not jobs of other Cargos", () => {
    const bench = new Bench(cargos);
    bench.up({ id: "isle-1" });
    bench.up({ id: "isle-2" }, 1);
    bench.submit({ id: "job_1" });
    bench.fail("isle-1");
    expect(bench.free("isle-1")).toEqual([]);
    expect(bench.submit({ id: "job_2" })).toEqual([]);
    expect(bench.submit({ id: "job_3", slug: "gemma" })).toEqual(["job_3 on isle-1"]);
    expect(bench.free("isle-2")).toEqual(["job_2 on isle-2"]);
  });

  it("admits one job as a probe after its open time, regardless of the Island's slots", () => {
    const bench = new Bench();
    bench.up({ slots: 4 });
    bench.fail("isle-1");
    for (const id of ["job_1", "job_2", "job_3"]) bench.submit({ id });
    expect(bench.pass(SECOND_MS - 1)).toEqual([]);
    expect(bench.pass(1)).toEqual(["job_1 on isle-1"]);
    expect(bench.submit({ id: "job_4" })).toEqual([]);
    // A success closes the breaker, and all slots are filled.
    expect(bench.succeed("isle-1")).toEqual(["job_2 on isle-1", "job_3 on isle-1", "job_4 on isle-1"]);
    expect(bench.scheduler.nextWakeMs).toBeNull();
  });

  it("admits another probe if the first one ends without a result", () => {
    const bench = new Bench();
    bench.up({ slots: 4 });
    bench.fail("isle-1");
    for (const id of ["job_1", "job_2"]) bench.submit({ id });
    expect(bench.pass(SECOND_MS)).toEqual(["job_1 on isle-1"]);
    expect(bench.free("isle-1", "job_1")).toEqual(["job_2 on isle-1"]);
  });

  it("doubles its open time with each failure, up to ten minutes", () => {
    const bench = new Bench();
    bench.up();
    const times = failJobs(bench, 12);
    expect(differences(times)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600]);
  });

  it("opens for at most 15 s while the jobs of only one account fail, as they may be at fault", () => {
    const bench = new Bench();
    bench.up();
    const times = failJobs(bench, 8, { accountId: "user_poison" });
    expect(differences(times)).toEqual([1, 2, 4, 8, 15, 15, 15]);
  });

  it("opens once for all jobs that the Island had when the first one failed", () => {
    const bench = new Bench();
    bench.up({ slots: 3 });
    for (const id of ["job_1", "job_2", "job_3"]) bench.submit({ id });
    for (const id of ["job_1", "job_2", "job_3"]) {
      bench.fail("isle-1");
      bench.free("isle-1", id);
    }
    bench.submit({ id: "job_4" });
    expect(bench.pass(SECOND_MS)).toEqual(["job_4 on isle-1"]);
  });

  it("stays open over a reconnect and counts a failure reported while the Island is away", () => {
    const bench = new Bench();
    bench.up();
    bench.down("isle-1");
    bench.fail("isle-1");
    expect(bench.up()).toEqual([]);
    expect(bench.submit()).toEqual([]);
    bench.down("isle-1");
    expect(bench.scheduler.nextWakeMs).toBeNull();
    bench.up();
    expect(bench.pass(SECOND_MS)).toEqual(["job_1 on isle-1"]);
  });

  it("is dropped after 10,000 other Islands have left", () => {
    const bench = new Bench();
    bench.up();
    bench.fail("isle-1");
    bench.down("isle-1");
    for (let index = 2; index < 10_003; index += 1) {
      bench.up({ id: `isle-${index}` });
      bench.down(`isle-${index}`);
    }
    bench.up();
    expect(bench.submit()).toEqual(["job_1 on isle-1"]);
  });
});

describe("a circuit breaker after a refusal", () => {
  it("doubles its open time as after failures", () => {
    const bench = new Bench();
    bench.up();
    const times = failJobs(bench, 4, { cause: "refused", code: "shutting_down" });
    expect(times).toEqual([0, 1, 3, 7]);
  });

  it("opens for much longer if waiting does not cure the reason", () => {
    const bench = new Bench();
    bench.up();
    const times = failJobs(bench, 3, { cause: "refused", code: "manifest_untrusted" });
    expect(times).toEqual([0, 30, 90]);
  });
});

describe("the jitter of a circuit breaker", () => {
  it("shortens the open time by up to a half, so that Islands that failed together are not probed together", () => {
    const bench = new Bench(undefined, { random: () => 0 });
    bench.up();
    bench.fail("isle-1");
    expect(bench.scheduler.nextWakeMs).toBe(SECOND_MS / 2);
  });
});

describe("a quarantine after four consecutive failures of two Cargos", () => {
  /** Fails a job of llama and a job of gemma on the Island twice, the second time as probes. */
  function quarantined(accounts: readonly string[] = ["user_1", "user_2"]): Bench {
    const bench = new Bench(cargos);
    bench.up({ slots: 4 });
    for (const accountId of accounts) {
      for (const slug of ["llama", "gemma"]) bench.fail("isle-1", { slug, accountId });
      bench.pass(SECOND_MS);
    }
    return bench;
  }

  it("stops jobs of all Cargos, then admits one, and ends after a success", () => {
    const bench = quarantined();
    expect(bench.quarantines).toMatchObject([
      { islandId: "isle-1", quarantine: { inARow: 4, forMs: 30_000, lastCode: "model_unavailable" } },
    ]);
    expect(bench.scheduler.quarantinedCount).toBe(1);
    expect(bench.submit({ id: "job_1", slug: "phi" })).toEqual([]);
    expect(bench.submit({ id: "job_2", slug: "phi" })).toEqual([]);
    expect(bench.scheduler.explain("job_1")?.reason).toBe("all_failing");
    expect(bench.pass(30 * SECOND_MS)).toEqual(["job_1 on isle-1"]);
    expect(bench.scheduler.quarantineOf("isle-1", bench.nowMs)).toMatchObject({ forMs: 0 });
    expect(bench.succeed("isle-1", "phi")).toEqual(["job_2 on isle-1"]);
    expect(bench.quarantines.at(-1)).toEqual({ kind: "quarantine", islandId: "isle-1", quarantine: null });
    expect(bench.scheduler.quarantineOf("isle-1", bench.nowMs)).toBeNull();
    expect(bench.scheduler.quarantinedCount).toBe(0);
  });

  it("lasts twice as long after a failed probe", () => {
    const bench = quarantined();
    bench.submit({ slug: "phi" });
    expect(bench.pass(30 * SECOND_MS)).toEqual(["job_1 on isle-1"]);
    bench.fail("isle-1", { slug: "phi", accountId: "user_3" });
    expect(bench.quarantines.at(-1)).toMatchObject({ quarantine: { inARow: 5, forMs: 60_000 } });
  });

  it("stays in force when the Island reconnects", () => {
    const bench = quarantined();
    bench.down("isle-1");
    expect(bench.scheduler.quarantineOf("isle-1", bench.nowMs)).toMatchObject({ inARow: 4 });
    bench.up();
    expect(bench.submit({ slug: "phi" })).toEqual([]);
  });

  it("does not start if a job succeeded in between", () => {
    const bench = new Bench(cargos);
    bench.up();
    for (const slug of ["llama", "gemma", "phi"]) bench.fail("isle-1", { slug });
    bench.succeed("isle-1");
    bench.fail("isle-1", { slug: "llama" });
    expect(bench.quarantines).toEqual([]);
  });

  it("does not start if all failures were of one Cargo", () => {
    const bench = new Bench(cargos);
    bench.up();
    failJobs(bench, 10);
    expect(bench.quarantines).toEqual([]);
  });
});
