import { mkdtemp, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEngines, type Engines } from "../../../island-agent/runtimes/engine/engines.ts";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { systemClock } from "../../../shared/clock.ts";
import { until } from "../../support/http/http.ts";
import { PLAIN_PATHS, ScriptedEngine } from "../../support/servers/scripted-engine.ts";
import { FakeLog } from "../builders.ts";

const SETTINGS = { apiKey: null, slots: 2, allowRemote: false, command: null };
const CARGO: CargoManifest = {
  slug: "plain",
  runtimeType: "engine",
  onnxTaskType: null,
  model: { url: "engine:plain", sha256: null, sizeBytes: null },
  contextTokens: null,
  requiredRamBytes: 0,
  requiredVramBytes: 0,
};

let directory: string;
let first: ScriptedEngine;
let second: ScriptedEngine;
/** Chat that the first engine works on. */
let held: PromiseWithResolvers<ServerResponse>;
let engines: Engines;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-engines-"));
  held = Promise.withResolvers();
  first = await ScriptedEngine.open({
    ...PLAIN_PATHS,
    "/v1/chat/completions": (_request, response) => held.resolve(response),
  });
  second = await ScriptedEngine.open(PLAIN_PATHS);
  const settings = { ...SETTINGS, urls: [first.url] };
  engines = await openEngines(directory, settings, systemClock, new FakeLog(), () => undefined);
  await untilReady();
});
afterEach(async () => {
  await engines[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const untilReady = () =>
  until(
    () => Promise.resolve(engines.status().map(({ state }) => state)),
    (states) => states.every((state) => state === "ready"),
    "all engines are ready",
  );

const eventOf = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;

describe("engines with changed settings", () => {
  it("are attached and detached, and the others are kept", async () => {
    expect(engines.slots()).toBe(2);
    engines.replace({ ...SETTINGS, urls: [second.url, first.url] });
    expect(engines.status()).toMatchObject([
      { url: second.url, state: "checking" },
      { url: first.url, state: "ready" },
    ]);
    await untilReady();
    expect(engines.slots()).toBe(4);
    engines.replace({ ...SETTINGS, urls: [] });
    expect([engines.status(), engines.serves(CARGO)]).toEqual([[], false]);
  });

  it("finish the runs of a detached engine", async () => {
    const loaded = engines.load(CARGO);
    const chat = { messages: [{ role: "user", content: "hello" }] };
    const begun = Promise.withResolvers<void>();
    const onOutput = (): void => begun.resolve();
    const run = loaded?.run({ input: chat, resume: null }, onOutput, new AbortController().signal);
    const response = await held.promise;
    response.write(eventOf({ choices: [{ delta: { content: "a" } }] }));
    await begun.promise;
    engines.replace({ ...SETTINGS, urls: [] });
    await loaded?.gone;
    response.write(eventOf({ choices: [{ delta: { content: "b" }, finish_reason: "stop" }] }));
    response.end(eventOf({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }));
    expect(await run).toMatchObject({ usage: { completionTokens: 2 } });
  });

  it("are waited for until their first check, or until the limit", async () => {
    await using hanging = await ScriptedEngine.open({ "/get_model_info": () => undefined });
    engines.replace({ ...SETTINGS, urls: [second.url] });
    await engines.checked(60_000);
    expect(engines.status()).toMatchObject([{ state: "ready" }]);
    engines.replace({ ...SETTINGS, urls: [hanging.url] });
    await engines.checked(10);
    expect(engines.status()).toMatchObject([{ state: "checking" }]);
  });

  it("stay as they are if a new one is on another machine", () => {
    expect(() => engines.replace({ ...SETTINGS, urls: ["http://10.1.2.3"] })).toThrow("engines.allow_remote");
    expect(engines.serves(CARGO)).toBe(true);
  });
});
