import { generateKeyPairSync, sign } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IslandAgent } from "../../../island-agent/agent.ts";
import { Availability } from "../../../island-agent/availability/availability.ts";
import { CoordinatorAddresses } from "../../../island-agent/session/coordinator-addresses.ts";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { fingerprintOf, publicKeyText, signedBytes } from "../../../shared/cargo-signature.ts";
import { settle } from "../../support/event-log.ts";
import { FakeRuntime } from "../../support/models/fake-runtime.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { ALLOWS_ALL, FakeFiles, FakeLog, ISLAND_TOKEN, makeAssign, makeHardware, makeManifest } from "../builders.ts";
import { ScriptedCoordinator, signManifest, type ScriptedSession } from "../scripted-coordinator.ts";
import { NO_ENGINES } from "../no-engines.ts";

const NOT_SIGNED = "warn Rejected a Cargo that is not signed with the key of the coordinator";
const model = { url: "https://models.example/a.gguf", sha256: null, sizeBytes: null };
const manifest = makeManifest({ model });
const other = generateKeyPairSync("ed25519");

let coordinator: ScriptedCoordinator;
let runtime: FakeRuntime;
let files: FakeFiles;
let clock: ManualClock;
let log: FakeLog;
let agent: IslandAgent;
let ended: Promise<string>;
let hasEnded: boolean;

beforeEach(async () => {
  coordinator = await ScriptedCoordinator.open();
  runtime = new FakeRuntime();
  files = new FakeFiles();
  clock = new ManualClock();
  log = new FakeLog();
  agent = new IslandAgent({
    engines: NO_ENGINES,
    coordinators: new CoordinatorAddresses([coordinator.url], () => 0),
    token: ISLAND_TOKEN,
    publicKey: coordinator.publicKey,
    signedBy: null,
    policy: () => ALLOWS_ALL,
    accountId: "user_1",
    hostId: "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
    version: "0.0.0-test",
    drainTimeoutMs: 15_000,
    clock,
    offer: { slots: 2, hardware: makeHardware() },
    runtimes: new Map([["llmcpp", { runtime, version: "fake" }]]),
    files,
    availability: new Availability({ clock, hours: null, isPaused: false }),
    recommend: async () => [],
    usage: () => ({ cpuLoad: 0.5, freeRamBytes: 1, freeVramBytes: null }),
    freeRamBytes: () => null,
    log,
    onConnected: () => undefined,
    random: () => 0,
  });
  hasEnded = false;
  ended = agent.run().finally(() => (hasEnded = true));
});

afterEach(async () => {
  const stopped = agent.stop();
  for (;;) {
    await settle();
    if (hasEnded) break;
    clock.advance(2_000);
  }
  await stopped;
  await coordinator[Symbol.asyncDispose]();
  expect(clock.pendingTimers, "timers left").toBe(0);
});

async function welcomed(): Promise<ScriptedSession> {
  const session = await coordinator.session(1);
  await session.welcome();
  return session;
}

const changed = (override: object): CargoManifest => ({ ...manifest, ...override });
const byOther = (cargo: CargoManifest): string => sign(null, signedBytes(cargo), other.privateKey).toString("base64");

describe("a Cargo of an assigned job", () => {
  it.each<[string, CargoManifest, string]>([
    [
      "names another model than was signed",
      changed({ model: { ...model, url: "https://evil.example/a" } }),
      signManifest(manifest),
    ],
    [
      "has a hash that was not signed",
      changed({ model: { ...model, sha256: "0".repeat(64) } }),
      signManifest(manifest),
    ],
    [
      "has a field more, which this agent does not know",
      changed({ later: { privileged: true } }),
      signManifest(manifest),
    ],
    [
      "has such a field deep inside",
      changed({ model: { ...model, mirror: "https://evil.example" } }),
      signManifest(manifest),
    ],
    ["lacks a field that was signed", changed({}), signManifest(changed({ later: 1 }))],
    ["is signed by another key", manifest, byOther(manifest)],
    ["has the signature of another Cargo", manifest, signManifest(changed({ slug: "b" }))],
    ["has no signature to speak of", manifest, "none"],
    ["is another account's own", manifest, signManifest(manifest, "user_2")],
  ])("is refused without a download, load or run when it %s", async (_what, cargo, signature) => {
    const session = await welcomed();
    session.send(makeAssign({ cargo, signature }));
    expect(await session.next("refused")).toMatchObject({
      jobId: "job_1",
      attempt: 1,
      code: "manifest_untrusted",
      message: expect.stringContaining(fingerprintOf(coordinator.publicKey)) as string,
    });
    await session.processed();
    expect(files.events.all).toEqual([]);
    expect(runtime.events.all).toEqual([]);
    expect(session.frames("accepted")).toEqual([]);
    expect(agent.status().running).toEqual([]);
  });

  it("runs when it is signed, even with fields of a later version", async () => {
    const session = await welcomed();
    session.send(makeAssign({ cargo: changed({ later: [1, { b: 2, a: 1 }], model: { ...model, mirror: null } }) }));
    await session.next("finished");
    expect(files.events.all[0]).toBe("fetch a");
    expect(log.events.all).not.toContain(NOT_SIGNED);
  });

  it("runs when it belongs to this Island's account", async () => {
    const session = await welcomed();
    session.send(makeAssign({ cargo: manifest, signature: signManifest(manifest, "user_1") }));
    await session.next("finished");
    expect(log.events.all).not.toContain(NOT_SIGNED);
  });

  it("is logged only once when it is refused repeatedly", async () => {
    const session = await welcomed();
    for (const jobId of ["job_1", "job_2", "job_3"]) session.send(makeAssign({ jobId, signature: byOther(manifest) }));
    await session.next("refused", 3);
    expect(log.events.count(NOT_SIGNED)).toBe(1);
  });
});

describe("a Cargo to preload", () => {
  it("is downloaded only when it is signed", async () => {
    const session = await welcomed();
    session.send({ type: "preload", cargo: changed({ slug: "evil" }), signature: byOther(changed({ slug: "evil" })) });
    session.send({ type: "preload", cargo: manifest });
    await files.events.happened("release a");
    expect(files.events.all).toEqual(["fetch a", "lease a", "release a"]);
    expect(log.events.count(NOT_SIGNED)).toBe(1);
  });
});

describe("a coordinator with a changed key", () => {
  it("is rejected before hello, with advice", async () => {
    const first = await welcomed();
    await first.processed();
    coordinator.shownKey = publicKeyText(other.publicKey);
    first.socket.terminate();
    await log.sessions.happened("over");
    clock.advance(250);
    expect(await ended).toBe(
      `the coordinator's key has changed: expected ${fingerprintOf(coordinator.publicKey)}, ` +
        `got ${fingerprintOf(coordinator.shownKey)}. Ask the operator for the fingerprint ` +
        "(coordinator signing-key show), then join again with --fingerprint",
    );
    expect((await coordinator.session(2)).frames("hello")).toEqual([]);
  });

  it("is accepted when a proxy removes the header, because each Cargo is still checked", async () => {
    const first = await welcomed();
    await first.processed();
    coordinator.shownKey = null;
    first.socket.terminate();
    await log.sessions.happened("over");
    clock.advance(250);
    const second = await coordinator.session(2);
    await second.welcome();
    second.send(makeAssign({ signature: byOther(manifest) }), makeAssign({ jobId: "job_2" }));
    expect((await second.next("refused")).jobId).toBe("job_1");
    expect((await second.next("finished")).jobId).toBe("job_2");
  });
});
