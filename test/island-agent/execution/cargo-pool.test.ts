import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CargoPool, type CargoLease } from "../../../island-agent/execution/cargo-pool.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { settle } from "../../support/event-log.ts";
import { FakeRuntime } from "../../support/fake-runtime.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeLog, FakeFiles, makeManifest, NEVER } from "../builders.ts";

const RAM_BYTES = 20;
const CAPS = { ramBytes: RAM_BYTES, vramBytes: 8 };
const MODEL = { url: "https://files.example/a.gguf", sha256: null, sizeBytes: null };

let runtime: FakeRuntime;
let files: FakeFiles;
let clock: ManualClock;
let log: FakeLog;
let pool: CargoPool;
let changes: number;
let freeRamBytes: number | null;

beforeEach(() => {
  runtime = new FakeRuntime();
  files = new FakeFiles();
  clock = new ManualClock();
  log = new FakeLog();
  changes = 0;
  freeRamBytes = null;
  const runtimes = new Map([["llmcpp" as const, runtime]]);
  pool = new CargoPool({
    runtimes,
    files,
    clock,
    log,
    caps: CAPS,
    freeRamBytes: () => freeRamBytes,
    onChange: () => (changes += 1),
  });
});
afterEach(async () => {
  for (const slug of runtime.heldDisposals) runtime.go(`dispose ${slug}`);
  await pool.close();
  expect(runtime.mostBytes, "memory cap").toBeLessThanOrEqual(RAM_BYTES);
});

const acquire = (slug: string, requiredRamBytes = 10, signal = NEVER): Promise<CargoLease> =>
  pool.acquire(makeManifest({ slug, requiredRamBytes }), signal);

const slugs = (): string[] => pool.loaded().map(({ slug }) => slug);

/** "waiting" until the promise settles; then its value or its error. */
async function stateOf<T>(promise: Promise<T>): Promise<T | "waiting"> {
  await settle();
  return Promise.race([promise, Promise.resolve("waiting" as const)]);
}

describe("acquire()", () => {
  it("loads a Cargo once for all that ask, also while it loads", async () => {
    runtime.heldLoads.add("a");
    const both = Promise.all([acquire("a"), acquire("a")]);
    await runtime.events.happened("held load a");
    runtime.go("load a");
    const [first, second] = await both;
    const third = await acquire("a");
    expect(first.cargo).toBe(second.cargo);
    expect(third.cargo).toBe(first.cargo);
    expect(runtime.events.count("load a")).toBe(1);
    expect(slugs()).toEqual(["a"]);
  });

  it("goes on with a load when one of two that wait for it leaves", async () => {
    runtime.heldLoads.add("a");
    const leaver = new AbortController();
    const leaving = acquire("a", 10, leaver.signal);
    const staying = acquire("a");
    await runtime.events.happened("held load a");
    leaver.abort(new Error("cancelled"));
    await expect(leaving).rejects.toThrow("cancelled");
    runtime.go("load a");
    await staying;
    expect(runtime.events.all).toEqual(["load a", "held load a", "loaded a"]);
  });

  it("ends a load when the last one that waits for it leaves, and loads anew for the next", async () => {
    runtime.heldLoads.add("a");
    const leaver = new AbortController();
    const leaving = acquire("a", 10, leaver.signal);
    await runtime.events.happened("held load a");
    leaver.abort(new Error("cancelled"));
    await expect(leaving).rejects.toThrow("cancelled");
    await runtime.events.happened("load of a ended");
    runtime.go("load a");
    await acquire("a");
    expect(runtime.events.count("load a")).toBe(2);
  });

  it("ends a download when the last one that waits for it leaves, and loads nothing", async () => {
    files.held.add("a");
    const leaver = new AbortController();
    const leaving = pool.acquire(makeManifest({ model: MODEL }), leaver.signal);
    await files.events.happened("fetch a");
    leaver.abort(new Error("cancelled"));
    await expect(leaving).rejects.toThrow("cancelled");
    await settle();
    expect(runtime.events.all).toEqual([]);
    expect(files.events.all).toEqual(["fetch a"]);
  });

  it("does nothing for a signal that was aborted before", async () => {
    await expect(acquire("a", 10, AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
    expect(runtime.events.all).toEqual([]);
  });

  it("tries a load that failed anew for the next job, and gives model and memory back", async () => {
    runtime.loadFailures.set("a", [new JobFailure("model_invalid", "no")]);
    const manifest = makeManifest({ model: MODEL, requiredRamBytes: RAM_BYTES });
    await expect(pool.acquire(manifest, NEVER)).rejects.toThrow(new JobFailure("model_invalid", "no"));
    await settle();
    expect(files.events.all).toEqual(["fetch a", "lease a", "release a"]);
    await pool.acquire(manifest, NEVER);
    expect(runtime.events.count("load a")).toBe(2);
  });

  it("refuses a type that this Island does not offer, retryable", async () => {
    const failing = pool.acquire(makeManifest({ runtimeType: "onnx" }), NEVER);
    await expect(failing).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
  });

  it("loads a Cargo again whose process is gone, and forgets the old one", async () => {
    const first = await acquire("a", RAM_BYTES);
    runtime.crash("a");
    await runtime.events.happened("disposed a");
    expect(slugs()).toEqual([]);
    const second = await acquire("a", RAM_BYTES);
    expect(second.cargo).not.toBe(first.cargo);
    expect(runtime.events.count("load a")).toBe(2);
  });

  it("tells of every load and unload", async () => {
    (await acquire("a")).release();
    expect(changes).toBe(1);
    runtime.crash("a");
    await settle();
    expect(changes).toBe(2);
  });
});

describe("room in memory", () => {
  it("is made by the idle Cargo that was used least recently, and by no other", async () => {
    (await acquire("a")).release();
    (await acquire("b")).release();
    (await acquire("a")).release();
    await acquire("c");
    expect(runtime.events.all).toEqual([
      "load a",
      "loaded a",
      "load b",
      "loaded b",
      "dispose b",
      "disposed b",
      "load c",
      "loaded c",
    ]);
    expect(slugs()).toEqual(["a", "c"]);
  });

  it("is waited for while the Cargos in memory run, and given as soon as one is idle", async () => {
    const first = await acquire("a", 15);
    const second = acquire("b", 15);
    expect(await stateOf(second)).toBe("waiting");
    expect(runtime.events.count("load b")).toBe(0);
    expect(runtime.events.count("dispose a")).toBe(0);
    first.release();
    await second;
    expect(runtime.events.all).toEqual(["load a", "loaded a", "dispose a", "disposed a", "load b", "loaded b"]);
  });

  it("is counted for a Cargo from the start of its load", async () => {
    runtime.heldLoads.add("a");
    const first = acquire("a", 15);
    await runtime.events.happened("held load a");
    const second = acquire("b", 15);
    expect(await stateOf(second)).toBe("waiting");
    expect(runtime.events.count("load b")).toBe(0);
    runtime.go("load a");
    (await first).release();
    await second;
  });

  it("is not free before the Cargo that leaves is disposed of", async () => {
    runtime.heldDisposals.add("a");
    (await acquire("a", 15)).release();
    const second = acquire("b", 15);
    await runtime.events.happened("dispose a");
    const third = acquire("c", 5);
    expect(await stateOf(second)).toBe("waiting");
    expect(runtime.events.all.slice(2)).toEqual(["dispose a"]);
    runtime.go("dispose a");
    await Promise.all([second, third]);
  });

  it("that is about to be free spares the other idle Cargos", async () => {
    runtime.heldDisposals.add("a");
    (await acquire("a")).release();
    (await acquire("b")).release();
    const first = acquire("c");
    await runtime.events.happened("dispose a");
    const second = acquire("d", 5);
    await settle();
    expect(runtime.events.count("dispose b")).toBe(0);
    runtime.go("dispose a");
    await Promise.all([first, second]);
    expect(runtime.events.count("dispose b")).toBe(1);
  });

  it("is counted as the runtime estimates, not as the Cargo says", async () => {
    runtime.estimates.set("a", { ramBytes: 5, vramBytes: 0 });
    await acquire("a", 20);
    await acquire("b", 15);
    expect(slugs()).toEqual(["a", "b"]);
  });

  it("of the GPU is shared out apart from RAM", async () => {
    for (const slug of ["a", "b", "c"]) runtime.estimates.set(slug, { ramBytes: 1, vramBytes: 4 });
    (await acquire("a")).release();
    await acquire("b");
    await acquire("ram-only", 15);
    expect(runtime.events.count("dispose a")).toBe(0);
    await acquire("c");
    expect(slugs()).toEqual(["b", "ram-only", "c"]);
  });

  it("is made by unloading what has the kind that is missing, though it was used last", async () => {
    runtime.estimates.set("gpu", { ramBytes: 0, vramBytes: 8 });
    runtime.estimates.set("gpu2", { ramBytes: 0, vramBytes: 8 });
    (await acquire("cpu", 10)).release();
    (await acquire("gpu", 0)).release();
    await acquire("gpu2", 0);
    expect(slugs()).toEqual(["cpu", "gpu2"]);
  });

  it("is refused with the figures to a Cargo that can never fit", async () => {
    runtime.estimates.set("a", { ramBytes: 3, vramBytes: 9 });
    await expect(acquire("a")).rejects.toMatchObject({
      code: "out_of_memory",
      retryable: true,
      message: "a needs 1 MiB of VRAM, estimated from its files; this Island has 0 MiB for Cargos",
    });
    expect(runtime.events.count("load a")).toBe(0);
  });

  it("is refused the next time to a Cargo that was measured above the cap", async () => {
    (await acquire("a")).release();
    runtime.residentBytes.set("a", RAM_BYTES + 1);
    (await acquire("a")).release();
    await runtime.events.happened("disposed a");
    await expect(acquire("a")).rejects.toThrow("as measured here");
    expect(runtime.estimated).toEqual(["a"]);
  });

  it("is given again, as estimated, to a Cargo that was measured above the cap ten minutes ago", async () => {
    runtime.residentBytes.set("a", RAM_BYTES + 1);
    (await acquire("a")).release();
    await runtime.events.happened("disposed a");
    runtime.residentBytes.delete("a");
    clock.advance(599_999);
    await expect(acquire("a")).rejects.toThrow("as measured here");
    clock.advance(1);
    await acquire("a");
    expect(runtime.estimated).toEqual(["a", "a"]);
  });

  it("is taken back from idle Cargos as soon as a job of a Cargo that others use has made it grow", async () => {
    (await acquire("idle", 10)).release();
    await acquire("busy", 5);
    const other = await acquire("busy", 5);
    runtime.residentBytes.set("busy", 15);
    other.release();
    await runtime.events.happened("disposed idle");
    expect(slugs()).toEqual(["busy"]);
  });

  it("is taken back from idle Cargos when one takes more than estimated once it is loaded", async () => {
    (await acquire("idle", 10)).release();
    runtime.residentBytes.set("big", 18);
    await acquire("big", 10);
    await runtime.events.happened("disposed idle");
    expect(slugs()).toEqual(["big"]);
  });

  it("is taken back from idle Cargos also while a Cargo waits that would not fit by that", async () => {
    (await acquire("idle", 5)).release();
    const busy = await acquire("busy", 15);
    const waiting = acquire("big", 20);
    await settle();
    expect(runtime.events.count("dispose idle")).toBe(0);
    const other = await acquire("busy", 15);
    runtime.residentBytes.set("busy", 18);
    other.release();
    await runtime.events.happened("disposed idle");
    expect(slugs()).toEqual(["busy"]);
    busy.release();
    (await waiting).release();
  });

  it("is let be where a job leaves a Cargo as large as it was", async () => {
    (await acquire("idle", 5)).release();
    await acquire("busy", 15);
    (await acquire("busy", 15)).release();
    await settle();
    expect(slugs()).toEqual(["idle", "busy"]);
  });

  it("is counted as measured where that is known", async () => {
    runtime.residentBytes.set("a", 5);
    await acquire("a", 15);
    await acquire("b", 5);
    expect(runtime.events.count("dispose a")).toBe(0);
    const third = acquire("c", 15);
    expect(await stateOf(third)).toBe("waiting");
    third.catch(() => undefined);
  });

  it("is given in the order of asking, also when a later one would fit", async () => {
    const first = await acquire("a", 15);
    const order: string[] = [];
    const big = acquire("b", 20).then((lease) => {
      order.push("b");
      return lease;
    });
    const small = acquire("c", 5).then((lease) => {
      order.push("c");
      return lease;
    });
    await settle();
    expect(order).toEqual([]);
    first.release();
    (await big).release();
    await small;
    expect(order).toEqual(["b", "c"]);
  });

  it("goes to the next when the one that waits longest leaves", async () => {
    await acquire("a", 15);
    const leaver = new AbortController();
    const big = acquire("b", 20, leaver.signal);
    const small = acquire("c", 5);
    expect(await stateOf(small)).toBe("waiting");
    leaver.abort(new Error("cancelled"));
    await expect(big).rejects.toThrow("cancelled");
    await small;
  });

  it("unloads nothing where that would not suffice", async () => {
    await acquire("a", 15);
    (await acquire("b", 5)).release();
    const big = acquire("c", 20);
    big.catch(() => undefined);
    expect(await stateOf(big)).toBe("waiting");
    expect(runtime.events.count("dispose b")).toBe(0);
  });

  it("is refused at once, retryable and before any download, to a Cargo that can never have it", async () => {
    const failing = pool.acquire(makeManifest({ model: MODEL, requiredRamBytes: RAM_BYTES + 1 }), NEVER);
    await expect(failing).rejects.toMatchObject({ code: "out_of_memory", retryable: true });
    expect(files.events.all).toEqual([]);
  });

  it("goes to a Cargo that has waited long before new jobs of the one that keeps it out", async () => {
    const first = await acquire("a", 15);
    const other = acquire("b", 15);
    await settle();
    const early = await acquire("a", 15);
    clock.advance(10_000);
    const late = acquire("a", 15);
    first.release();
    early.release();
    (await other).release();
    (await late).release();
    expect(runtime.events.all.filter((event) => event.startsWith("loaded"))).toEqual([
      "loaded a",
      "loaded b",
      "loaded a",
    ]);
  });
});

describe("RAM that other programs hold", () => {
  it("is made up for by unloading idle Cargos, one by one, until the load fits", async () => {
    for (const slug of ["a", "b", "c"]) (await acquire(slug, 4)).release();
    freeRamBytes = 2;
    runtime.heldDisposals.add("a");
    const loading = acquire("d", 6);
    await runtime.events.happened("dispose a");
    expect(await stateOf(loading)).toBe("waiting");
    freeRamBytes = 6;
    runtime.go("dispose a");
    await loading;
    expect(slugs()).toEqual(["b", "c", "d"]);
  });

  it("need hold only the first of a Cargo's containers, which are started as jobs come", async () => {
    const container = { image: "docker.io/library/a:1", digest: null, command: null, gpu: false, network: false };
    runtime.estimates.set("a", { ramBytes: 16, vramBytes: 0 });
    freeRamBytes = 5;
    await pool.acquire(makeManifest({ slug: "a", container, requiredRamBytes: 4 }), NEVER);
    expect(slugs()).toEqual(["a"]);
  });

  it("makes a load refused, retryable and with the figures, when nothing idle is left", async () => {
    await acquire("busy", 5);
    (await acquire("idle", 5)).release();
    freeRamBytes = 9;
    await expect(acquire("other", 10)).rejects.toMatchObject({
      code: "out_of_memory",
      retryable: true,
      message: "other needs 1 MiB of RAM, the machine has 0 MiB free now",
    });
    expect(slugs()).toEqual(["busy"]);
    expect(runtime.events.count("load other")).toBe(0);
    freeRamBytes = 10;
    await acquire("other", 10);
  });
});

describe("close()", () => {
  it("unloads everything and waits until all memory is given back", async () => {
    runtime.heldDisposals.add("a");
    runtime.heldLoads.add("b");
    await acquire("a");
    const loading = acquire("b");
    await runtime.events.happened("held load b");
    const closing = pool.close();
    await expect(loading).rejects.toMatchObject({ code: "shutting_down", retryable: true });
    expect(await stateOf(closing)).toBe("waiting");
    runtime.go("dispose a");
    await closing;
    expect(runtime.events.all.slice(-1)).toEqual(["disposed a"]);
    expect(runtime.events.count("load of b ended")).toBe(1);
    await expect(acquire("a")).rejects.toMatchObject({ code: "shutting_down" });
  });
});

describe("the RAM at which a Cargo's process is ended", () => {
  const GIB = 1_073_741_824;

  it.each([
    ["its estimate and a GiB, where it is small", 0.5 * GIB, 1.5 * GIB],
    ["twice its estimate", 2 * GIB, 4 * GIB],
    ["the owner's cap at most", 6 * GIB, 8 * GIB],
  ])("is %s, and is not raised by what its jobs made it grow to", async (_name, estimateBytes, ceilingBytes) => {
    const runtimes = new Map([["llmcpp" as const, runtime]]);
    const caps = { ramBytes: 8 * GIB, vramBytes: 0 };
    await using stack = new AsyncDisposableStack();
    const roomy = stack.adopt(
      new CargoPool({ runtimes, files, clock, log, caps, freeRamBytes: () => null, onChange: () => {} }),
      (each) => each.close(),
    );
    runtime.estimates.set("a", { ramBytes: estimateBytes, vramBytes: 0 });
    runtime.residentBytes.set("a", 7 * GIB);
    const manifest = makeManifest({ slug: "a", requiredRamBytes: 0 });
    (await roomy.acquire(manifest, NEVER)).release();
    runtime.crash("a");
    await runtime.events.happened("disposed a");
    await settle();
    (await roomy.acquire(manifest, NEVER)).release();
    expect(runtime.ceilings).toEqual([ceilingBytes, ceilingBytes]);
    runtime.mostBytes = 0;
  });
});
