import { beforeEach, describe, expect, it } from "vitest";
import { openPreloader, type Preloader } from "../../../island-agent/preload/preloader.ts";
import type { Recommendation } from "../../../island-agent/preload/recommendations.ts";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { FakeFiles, FakeLog, makeManifest } from "../builders.ts";
import { settle } from "../../support/event-log.ts";
import { ManualClock } from "../../support/manual-clock.ts";

let clock: ManualClock;
let files: FakeFiles;
let wanted: string[][];
let questions: number;
let recommended: Recommendation[] | Error;
let closedBecause: string | null;
let hasSession: boolean;
let preloader: Preloader;
let leave: AbortController;
/** Slug of the Cargo that an engine of the host serves. */
let served: string | null;

beforeEach(() => {
  clock = new ManualClock();
  files = new FakeFiles();
  wanted = [];
  questions = 0;
  recommended = [];
  closedBecause = null;
  hasSession = true;
  served = null;
  leave = new AbortController();
  preloader = openPreloader({
    clock,
    log: new FakeLog(),
    files,
    runtimes: new Set(["llmcpp"]),
    engines: { serves: ({ slug }) => slug === served },
    recommend: async () => {
      questions += 1;
      if (recommended instanceof Error) throw recommended;
      return recommended;
    },
    want: (slugs) => hasSession && wanted.push([...slugs]) > 0,
    closedBecause: () => closedBecause,
    onChange: () => undefined,
    random: () => 0,
  });
});

const recommend = (slug: string, queued = 1): Recommendation => ({
  slug,
  queued,
  demandScore: queued * 10,
  isDefault: false,
  earningsPerJob: "0.9",
});
const cargo = (slug: string, sizeBytes: number | null = 100): CargoManifest =>
  makeManifest({ slug, model: { url: `https://models.example/${slug}`, sha256: null, sizeBytes } });
const receive = (...cargos: CargoManifest[]): void => {
  for (const one of cargos) preloader.receive(one, leave.signal);
};
const stateOf = (slug: string) => preloader.status().items.find((item) => item.slug === slug);

/** Starts the preloader, runs `body`, and stops it. */
async function running(body: () => Promise<void>): Promise<void> {
  const run = preloader.run(leave.signal);
  await settle();
  await body();
  leave.abort(new Error("the agent stops"));
  await run;
  expect(clock.pendingTimers).toBe(0);
}

describe("Preloader", () => {
  it("requests recommendations immediately and then every 15 minutes", () =>
    running(async () => {
      expect(questions).toBe(1);
      clock.advance(15 * 60_000 - 1);
      await settle();
      expect(questions).toBe(1);
      clock.advance(1);
      await settle();
      expect(questions).toBe(2);
    }));

  it("requests recommended Cargos, downloads one at a time, best first, and reports the reason", async () => {
    recommended = [recommend("best", 12), recommend("next", 1)];
    files.held.add("best");
    await running(async () => {
      expect(wanted).toEqual([["best", "next"]]);
      expect(stateOf("best")).toMatchObject({ state: "requested" });
      receive(cargo("next"), cargo("best"));
      await settle();
      expect(files.events.all).toEqual(["fetch best"]);
      expect(preloader.status().items).toEqual([
        {
          slug: "best",
          reason: "12 jobs wait, demand 120, earns 0.9 credits per job",
          state: "downloading",
          detail: "",
        },
        { slug: "next", reason: "1 job waits, demand 10, earns 0.9 credits per job", state: "waiting", detail: "" },
      ]);
      files.go("best");
      await settle();
      expect(stateOf("best")?.state).toBe("on disk");
      expect(stateOf("next")?.state).toBe("on disk");
    });
  });

  it("downloads no Cargo that an engine of the host serves", async () => {
    recommended = [recommend("served"), recommend("other")];
    served = "served";
    await running(async () => {
      receive(cargo("served"), cargo("other"));
      await settle();
      expect(stateOf("served")).toMatchObject({ state: "on disk", detail: "an engine of this host serves it" });
      expect(files.events.all.filter((event) => event.startsWith("fetch"))).toEqual(["fetch other"]);
    });
  });

  it("requests no Cargo without demand except the default Cargo", async () => {
    recommended = [recommend("asked", 1), { ...recommend("default", 0), isDefault: true }, recommend("idle", 0)];
    await running(async () => {
      expect(wanted).toEqual([["asked", "default"]]);
      expect(stateOf("default")?.reason).toBe("chats without a model use it, earns 0.9 credits per job");
    });
  });

  it("skips a Cargo that does not fit with better ones, and downloads a smaller one after it", async () => {
    recommended = [recommend("a"), recommend("big"), recommend("small")];
    files.budgetBytes = 1_000;
    await running(async () => {
      receive(cargo("a", 600), cargo("big", 500), cargo("small", 400));
      await settle();
      expect(preloader.status().items.map(({ slug, state }) => [slug, state])).toEqual([
        ["a", "on disk"],
        ["big", "no disk space"],
        ["small", "on disk"],
      ]);
      expect(stateOf("big")?.detail).toContain("more; Cargos that stay on disk fill");
    });
  });

  it("downloads a Cargo that the coordinator sends without a request", async () => {
    await running(async () => {
      receive(cargo("a"));
      await settle();
      expect(stateOf("a")).toMatchObject({ state: "on disk", reason: "the coordinator sent it" });
    });
  });

  it("continues after a failed download, and reports the reason", async () => {
    files.preload = async ({ slug }) => {
      if (slug === "a") throw new Error("404 at the hub");
    };
    await running(async () => {
      receive(cargo("a"), cargo("b"));
      await settle();
      expect(stateOf("a")).toMatchObject({ state: "failed", detail: "404 at the hub" });
      expect(stateOf("b")?.state).toBe("on disk");
    });
  });

  it("reports a failed request, and retries it later", async () => {
    recommended = new Error("connect ECONNREFUSED");
    await running(async () => {
      expect(preloader.status()).toMatchObject({ receivedAtMs: null, problem: "connect ECONNREFUSED" });
      clock.advance(60_000);
      await settle();
      expect(questions).toBe(2);
      recommended = [recommend("a")];
      clock.advance(2 * 60_000);
      await settle();
      expect(questions).toBe(3);
      expect(preloader.status().problem).toBeNull();
    });
  });

  it("retries soon when there was no session for the request", async () => {
    recommended = [recommend("a")];
    hasSession = false;
    await running(async () => {
      expect(preloader.status().problem).toContain("no session");
      hasSession = true;
      clock.advance(60_000);
      await settle();
      expect(wanted).toEqual([["a"]]);
    });
  });

  it("backs off while requests fail, up to 15 minutes", async () => {
    recommended = new Error("502");
    await running(async () => {
      const counts: number[] = [];
      for (let hour = 0; hour < 2; hour += 1) {
        const before = questions;
        for (let minute = 0; minute < 60; minute += 1) {
          clock.advance(60_000);
          await settle();
        }
        counts.push(questions - before);
      }
      expect(counts[0]).toBeGreaterThan(counts[1] ?? 0);
      expect(counts[1]).toBeGreaterThanOrEqual(4);
    });
  });

  it("requests nothing while the Island accepts no jobs", async () => {
    closedBecause = "paused";
    await running(async () => {
      expect(questions).toBe(0);
      expect(preloader.status().problem).toBe("no downloads while the Island is paused");
    });
  });

  it("stops its download when the Island closes, and continues as soon as it opens", async () => {
    files.held.add("a");
    await running(async () => {
      receive(cargo("a"), cargo("b"));
      await files.events.happened("fetch a");
      closedBecause = "paused";
      preloader.onAvailability();
      await settle();
      expect(files.events.all).toEqual(["fetch a"]);
      expect(preloader.status().items.map(({ state }) => state)).toEqual(["waiting", "waiting"]);
      receive(cargo("c"));
      await settle();
      expect(files.events.all).toEqual(["fetch a"]);
      files.held.clear();
      closedBecause = null;
      preloader.onAvailability();
      await settle();
      expect(questions).toBe(2);
      expect(preloader.status().items.map(({ state }) => state)).toEqual(["on disk", "on disk", "on disk"]);
    });
  });

  it("downloads a Cargo sent without a request even if another request comes first", async () => {
    files.held.add("a");
    await running(async () => {
      receive(cargo("a"), cargo("b"));
      await files.events.happened("fetch a");
      clock.advance(15 * 60_000);
      await settle();
      expect(questions).toBe(2);
      files.go("a");
      await settle();
      expect(preloader.status().items.map(({ slug, state }) => [slug, state])).toEqual([
        ["a", "on disk"],
        ["b", "on disk"],
      ]);
    });
  });

  it("downloads another version after the current download, and the same version only once", async () => {
    const versions: (string | undefined)[] = [];
    files.held.add("a");
    const preload = files.preload.bind(files);
    files.preload = async (one, signal) => {
      versions.push(one.model?.url);
      await preload(one, signal);
    };
    const second = makeManifest({ slug: "a", model: { url: "https://models.example/a2", sha256: null, sizeBytes: 1 } });
    await running(async () => {
      receive(cargo("a"));
      await files.events.happened("fetch a");
      receive(cargo("a"));
      receive(second);
      files.go("a");
      await settle();
      expect(versions).toEqual(["https://models.example/a", "https://models.example/a2"]);
      expect(stateOf("a")?.state).toBe("on disk");
    });
  });

  it("skips Cargos that no runtime of this Island can run, and reports it", async () => {
    await running(async () => {
      receive({ ...cargo("a"), runtimeType: "diffusers" });
      await settle();
      expect(files.events.all).toEqual([]);
      const detail = "this Island has no diffusers runtime";
      expect(stateOf("a")).toMatchObject({ state: "cannot run here", detail });
    });
  });

  it.each([
    ["evicts nothing for the default Cargo without demand", 0, []],
    ["evicts only Cargos that are not wanted for a Cargo in demand", 3, ["old"]],
  ])("%s", async (_title, queued, removable) => {
    recommended = ["a", "b"].map((slug) => ({ ...recommend(slug, queued), isDefault: true }));
    const evictable: string[] = [];
    files.freeSpace = async (_cargo, mayRemove = () => false) => {
      evictable.push(...["a", "b", "old"].filter(mayRemove));
      return 1;
    };
    await running(async () => {
      receive(cargo("a"));
      await settle();
      expect(evictable).toEqual(removable);
    });
  });

  it("stops a download when the agent stops", async () => {
    files.held.add("a");
    await running(async () => {
      receive(cargo("a"));
      await files.events.happened("fetch a");
    });
    expect(stateOf("a")?.state).toBe("waiting");
  });
});
