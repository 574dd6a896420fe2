import { beforeEach, describe, expect, it } from "vitest";
import { openPulls, type Pulls } from "../../../island-agent/preload/owner-pulls.ts";
import { FakeFiles, makeManifest } from "../builders.ts";
import { settle } from "../../support/event-log.ts";
import { ManualClock } from "../../support/manual-clock.ts";

let clock: ManualClock;
let files: FakeFiles;
let wanted: string[][];
let hasSession: boolean;
let leave: AbortController;
let pulls: Pulls;

beforeEach(() => {
  clock = new ManualClock();
  files = new FakeFiles();
  wanted = [];
  hasSession = true;
  leave = new AbortController();
  pulls = openPulls(
    clock,
    files,
    (slugs) => {
      if (hasSession) wanted.push([...slugs]);
      return hasSession;
    },
    () => undefined,
  );
});

const cargo = (slug: string) =>
  makeManifest({ slug, model: { url: `https://models.example/${slug}`, sha256: null, sizeBytes: 1 } });
const stateOf = (slug: string) => pulls.status().find((pull) => pull.slug === slug);

describe("Pulls", () => {
  it("requests the Cargo, downloads it, and reports when it is on disk", async () => {
    files.held.add("a");
    pulls.begin("a");
    expect(wanted).toEqual([["a"]]);
    expect(stateOf("a")).toEqual({ slug: "a", state: "requested", fraction: null, detail: "", download: null });
    expect(pulls.receive(cargo("a"), leave.signal)).toBe(true);
    await settle();
    expect(stateOf("a")?.state).toBe("downloading");
    files.go("a");
    await settle();
    expect(stateOf("a")).toMatchObject({ state: "on disk", fraction: 1 });
    expect(clock.pendingTimers).toBe(0);
  });

  it("does not request a Cargo twice during a pull, and requests it again after the end", async () => {
    files.held.add("a");
    pulls.begin("a");
    pulls.begin("a");
    pulls.receive(cargo("a"), leave.signal);
    pulls.begin("a");
    expect(wanted).toHaveLength(1);
    files.go("a");
    await settle();
    pulls.begin("a");
    expect(wanted).toHaveLength(2);
    await pulls.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it("ignores Cargos that the owner did not request, or already has", async () => {
    expect(pulls.receive(cargo("a"), leave.signal)).toBe(false);
    pulls.begin("a");
    pulls.receive(cargo("a"), leave.signal);
    await settle();
    expect(pulls.receive(cargo("a"), leave.signal)).toBe(false);
    expect(files.events.all).toEqual(["fetch a", "lease a", "release a"]);
  });

  it("fails a pull when the coordinator does not send the Cargo", () => {
    pulls.begin("a");
    clock.advance(10_000);
    expect(stateOf("a")).toMatchObject({ state: "failed", detail: expect.stringContaining("did not send a") });
    expect(pulls.receive(cargo("a"), leave.signal)).toBe(false);
  });

  it("refuses without a session, and keeps no state", () => {
    hasSession = false;
    expect(() => pulls.begin("a")).toThrow("not connected to its coordinator");
    expect(pulls.status()).toEqual([]);
  });

  it("reports why a download failed, and ends with the agent", async () => {
    files.held.add("a");
    pulls.begin("a");
    pulls.receive(cargo("a"), leave.signal);
    leave.abort(new Error("the agent stops"));
    await pulls.close();
    expect(stateOf("a")).toMatchObject({ state: "failed", detail: "the agent stops" });
  });

  it("keeps the last 100 pulls", async () => {
    for (let index = 0; index < 101; index += 1) {
      pulls.begin(`c${index}`);
      pulls.receive(cargo(`c${index}`), leave.signal);
      await settle();
    }
    expect(pulls.status()).toHaveLength(100);
    expect(stateOf("c0")).toBeUndefined();
  });
});
