import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../../island-agent/agent.ts";
import { CliError } from "../../../shared/cli-error.ts";
import { configCommand } from "../../../island-agent/cli/config-command.ts";
import { joinNetwork, plainHttpWarning } from "../../../island-agent/cli/join-command.ts";
import { startAgent } from "../../../island-agent/cli/start-command.ts";
import { describeStatus, readStatus } from "../../../island-agent/cli/status-command.ts";
import { storeKey } from "../../../island-agent/config/config-file.ts";
import { ControlServer } from "../../../island-agent/control/control-server.ts";
import { sessionUrl } from "../../../island-agent/session/coordinator-link.ts";
import { ModelStore } from "../../../island-agent/models/model-store.ts";
import { fingerprintOf } from "../../../shared/cargo-signature.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { FakeLog, ISLAND_TOKEN } from "../builders.ts";
import { ScriptedCoordinator } from "../scripted-coordinator.ts";

/** Of RFC 8032 §7.1, TEST 1. */
const OTHER_KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

let directory: string;
let dataDirectory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-commands-"));
  dataDirectory = join(directory, "data");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => "it did not fail",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CliError);
  const { message } = error as CliError;
  expect(message).not.toContain("\n");
  return message;
}

describe("sessionUrl()", () => {
  it.each([
    ["https://host.example", "wss://host.example/api/v1/island/session"],
    ["https://host.example/", "wss://host.example/api/v1/island/session"],
    ["http://localhost:8080", "ws://localhost:8080/api/v1/island/session"],
    ["https://host.example/prefix", "wss://host.example/prefix/api/v1/island/session"],
    ["https://host.example/a/b//", "wss://host.example/a/b/api/v1/island/session"],
    ["http://[::1]:8080/x?y=1#z", "ws://[::1]:8080/x/api/v1/island/session"],
  ])("of %s is %s", (url, wanted) => {
    expect(sessionUrl(url)).toBe(wanted);
  });
});

describe("joinNetwork()", () => {
  let coordinator: ScriptedCoordinator;
  beforeEach(async () => {
    coordinator = await ScriptedCoordinator.open();
  });
  afterEach(() => coordinator[Symbol.asyncDispose]());

  const join_ = (url: string, token = ISLAND_TOKEN): Promise<string> => joinNetwork({ url, token, dataDirectory });
  const tokensShown = (): string[] => coordinator.requests.flatMap(({ authorization }) => authorization ?? []);

  it("stores address and token that the coordinator accepts, below the address's own path", async () => {
    await join_(`${coordinator.url}/prefix`);
    const path = "/prefix/api/v1/island/session";
    // First it asks for the key.
    expect(coordinator.requests).toEqual([
      { path, authorization: undefined },
      { path, authorization: `Bearer ${ISLAND_TOKEN}` },
    ]);
    expect(await configCommand.get(dataDirectory, {}, "coordinator.api_url")).toBe(`${coordinator.url}/prefix`);
    expect(await readFile(join(dataDirectory, "config.toml"), "utf8")).toContain(ISLAND_TOKEN);
  });

  it("pins the account whose token it is, and forgets it when the coordinator does not say", async () => {
    await join_(coordinator.url);
    expect(await configCommand.get(dataDirectory, {}, "coordinator.account")).toBe("user_1");
    coordinator.account = null;
    await join_(coordinator.url);
    expect(await configCommand.get(dataDirectory, {}, "coordinator.account")).toBe("");
  });

  it("pins the key that the coordinator shows, and tells its fingerprint", async () => {
    expect(await join_(coordinator.url)).toBe(fingerprintOf(coordinator.publicKey));
    expect(await configCommand.get(dataDirectory, {}, "coordinator.public_key")).toBe(coordinator.publicKey);
    expect(await join_(coordinator.url)).toBe(fingerprintOf(coordinator.publicKey));
  });

  it("takes the fingerprint that the operator told, and no key that has another", async () => {
    const join = (fingerprint: string): Promise<string> =>
      joinNetwork({ url: coordinator.url, token: ISLAND_TOKEN, dataDirectory, fingerprint });
    const shown = fingerprintOf(coordinator.publicKey);
    expect(await messageOf(join("SHA256:x"))).toBe(
      `Not joined: the coordinator's key has the fingerprint ${shown}, not SHA256:x`,
    );
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
    expect(tokensShown()).toEqual([]);
    expect(await join(shown)).toBe(shown);
  });

  it.each(["", "/prefix"])(
    "believes another key than the pinned one only with its fingerprint, at …%s",
    async (path) => {
      await join_(`${coordinator.url}/`);
      coordinator.shownKey = OTHER_KEY;
      coordinator.requests.length = 0;
      expect(await messageOf(join_(`${coordinator.url}${path}`))).toMatch(
        /^Not joined: the coordinator's key has changed: .*join again with --fingerprint; or with --new-coordinator, /,
      );
      expect(tokensShown()).toEqual([]);
      expect(await configCommand.get(dataDirectory, {}, "coordinator.public_key")).toBe(coordinator.publicKey);
      const fingerprint = fingerprintOf(OTHER_KEY);
      await joinNetwork({ url: coordinator.url, token: ISLAND_TOKEN, dataDirectory, fingerprint });
      expect(await configCommand.get(dataDirectory, {}, "coordinator.public_key")).toBe(OTHER_KEY);
    },
  );

  it("believes the key of another coordinator when told that it is one, and pins that", async () => {
    await join_(coordinator.url);
    await using second = await ScriptedCoordinator.open();
    second.shownKey = OTHER_KEY;
    const shown = await joinNetwork({ url: second.url, token: ISLAND_TOKEN, dataDirectory, isNewCoordinator: true });
    expect(shown).toBe(fingerprintOf(OTHER_KEY));
    expect(await configCommand.get(dataDirectory, {}, "coordinator.public_key")).toBe(OTHER_KEY);
  });

  it("stores nothing when the key is another one as soon as the token is there", async () => {
    Object.defineProperty(coordinator, "shownKey", {
      get: () => (coordinator.requests.length === 1 ? coordinator.publicKey : OTHER_KEY),
    });
    expect(await messageOf(join_(coordinator.url))).toBe(
      "Not joined: the coordinator showed one key, then another; join again",
    );
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
  });

  it("shows the token to no address that is not a coordinator", async () => {
    const authorizations: (string | undefined)[] = [];
    const other = createHttpServer((_request, response) => response.writeHead(404).end());
    other.on("upgrade", ({ headers }, socket) => {
      authorizations.push(headers.authorization);
      socket.end("HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    expect(await messageOf(join_(`http://127.0.0.1:${port}`))).toBe(
      "Not joined: the address answered 404: is it a coordinator?",
    );
    expect(authorizations).toEqual([undefined]);
    await new Promise((resolve) => other.close(resolve));
  });

  it.each([null, "abc"])("joins no coordinator that shows %j for a key", async (shown) => {
    coordinator.shownKey = shown;
    expect(await messageOf(join_(coordinator.url))).toBe(
      "Not joined: the coordinator shows no key that signs its Cargos",
    );
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
  });

  it.each(["host.example", "ftp://host.example", "http://", ""])("refuses %j, which is no address", async (url) => {
    expect(await messageOf(join_(url))).toBe(`"${url}" is not an http or https address`);
  });

  it.each(["", "it_", "ak_".padEnd(43, "a"), `${ISLAND_TOKEN}a`, `${ISLAND_TOKEN}\n`])(
    "refuses %j, which is no Island token, and shows it to nobody",
    async (token) => {
      expect(await messageOf(join_(coordinator.url, token))).toBe(
        "The token is not an Island token: those begin with it_ and have 43 characters",
      );
      expect(coordinator.requests).toEqual([]);
    },
  );

  it.each([
    [401, "Not joined: the coordinator does not accept the token"],
    [404, "Not joined: the address answered 404: is it a coordinator?"],
  ])("says so when the answer is %i, and stores nothing", async (status, message) => {
    coordinator.refusals.push(status);
    expect(await messageOf(join_(coordinator.url))).toBe(message);
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
  });

  it("says so when nobody listens", async () => {
    await coordinator.vanish();
    expect(await messageOf(join_(coordinator.url))).toMatch(
      /^Not joined: cannot reach the coordinator: .*ECONNREFUSED/,
    );
  });

  it("says so when the other side speaks no HTTP", async () => {
    const other = createServer((socket) => socket.resume().end("hello\r\n\r\n"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    expect(await messageOf(join_(`http://127.0.0.1:${port}`))).toMatch(/^Not joined: cannot reach the coordinator: /);
    await new Promise((resolve) => other.close(resolve));
  });
});

describe("plainHttpWarning()", () => {
  it.each([
    ["http://atoll.example", true],
    ["http://192.168.0.2:8080/x", true],
    ["http://127.0.0.1.example", true],
    ["https://atoll.example", false],
    ["http://localhost:8080", false],
    ["http://127.0.0.1", false],
    ["http://[::1]:8080", false],
    ["atoll.example", false],
  ])("for %s is given: %s", (url, isGiven) => {
    const warning = plainHttpWarning(url);
    expect(warning !== null).toBe(isGiven);
    if (isGiven) expect(warning).toContain(`${url} is not encrypted`);
  });
});

describe("startAgent()", () => {
  const log = new FakeLog();
  const start = (env: Record<string, string> = {}) =>
    startAgent({
      dataDirectory,
      flags: {},
      env,
      pid: 1,
      version: "0.0.0-test",
      clock: systemClock,
      openLog: () => log,
      onConnected: () => undefined,
    });
  beforeEach(async () => {
    log.events.all.length = 0;
    log.facts.length = 0;
    await storeKey(dataDirectory, "coordinator.api_url", "http://127.0.0.1:1");
    await storeKey(dataDirectory, "coordinator.token", ISLAND_TOKEN);
    await storeKey(dataDirectory, "coordinator.public_key", OTHER_KEY);
  });

  it("needs a coordinator", async () => {
    await rm(join(dataDirectory, "config.toml"));
    expect(await messageOf(start())).toBe("This Island has not joined a coordinator: island join URL --token it_…");
  });

  it("refuses a token that no header could hold, and does not show it", async () => {
    const started = start({ ISLAND_COORDINATOR_TOKEN: `${ISLAND_TOKEN}\u{1f3dd}` });
    await expect(started).rejects.toEqual(
      new ConfigError([
        "ISLAND_COORDINATOR_TOKEN: (hidden) is not an Island token: those begin with it_ and have 43 characters",
      ]),
    );
  });

  it("refuses a directory on which an agent runs", async () => {
    await using _server = await ControlServer.open(dataDirectory, 1, { "GET /status": () => ({}) });
    expect(await messageOf(start())).toBe(`An agent runs already on ${dataDirectory}`);
  });

  it("refuses a model directory that another process uses, whatever is in its control file", async () => {
    await writeFile(join(dataDirectory, "control.json"), '{"port":');
    const models = join(dataDirectory, "models");
    const store = await ModelStore.open({ directory: models, budgetBytes: 1, clock: systemClock, fetch: {} });
    expect(await messageOf(start())).toMatch(/^Another process uses .*models; /);
    await store.close();
  });

  it("refuses a file in place of the model directory", async () => {
    const models = join(dataDirectory, "models");
    await writeFile(models, "");
    expect(await messageOf(start())).toBe(`The model directory ${models} cannot be used: there is a file in its place`);
  });

  it("refuses an Island that joined before there were keys, and says what to do", async () => {
    await storeKey(dataDirectory, "coordinator.public_key", null);
    expect(await messageOf(start())).toBe(
      "This Island has pinned no key of its coordinator; join again: island join URL --token it_…",
    );
  });

  it("refuses a damaged host id", async () => {
    await writeFile(join(dataDirectory, "host-id"), "not an id");
    expect(await messageOf(start())).toMatch(/host-id does not hold a UUID\./);
  });

  it.each([
    [0o644, ["warn Other users can read the file, and with it the Island token: chmod 600"]],
    [0o600, []],
  ])("warns when others can read the token: mode %o", async (mode, events) => {
    const file = join(dataDirectory, "config.toml");
    await chmod(file, mode);
    await writeFile(join(dataDirectory, "host-id"), "not an id");
    await messageOf(start());
    expect(log.events.all).toEqual(events);
    expect(log.facts).toEqual(events.map(() => ({ file })));
  });
});

describe("status", () => {
  const status: AgentStatus = {
    link: "connected",
    coordinatorUrl: "https://host.example",
    hostId: "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
    closedBecause: null,
    preload: null,
    slots: 4,
    runtimes: [{ type: "llmcpp", version: "3.0" }],
    loaded: [],
    memoryCaps: { ramBytes: 1_073_741_824, vramBytes: 0 },
    running: [],
    counts: { completed: 3, failed: 2, cancelled: 1, tokens: 700 },
    reconnects: 0,
    lastProblem: null,
  };

  it("says when no agent runs, also beside a damaged control file", async () => {
    await mkdir(dataDirectory);
    expect(await readStatus(dataDirectory)).toBeNull();
    await writeFile(join(dataDirectory, "control.json"), "{");
    expect(await readStatus(dataDirectory)).toBeNull();
    expect(describeStatus(null)).toBe("No agent runs on this data directory. Start it with: island start");
  });

  it("is read from the running agent", async () => {
    await mkdir(dataDirectory);
    await using _server = await ControlServer.open(dataDirectory, 1, { "GET /status": () => status });
    expect(await readStatus(dataDirectory)).toEqual(status);
  });

  it("of an idle agent is a few lines", () => {
    expect(describeStatus(status).split("\n")).toEqual([
      "Coordinator  https://host.example (connected)",
      "Host id      3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
      "Runtimes     llmcpp 3.0",
      "In memory    nothing",
      "For Cargos   1.0 GiB RAM",
      "Jobs         0 of 4 slots in use",
      "So far       3 completed, 2 failed, 1 cancelled, 700 tokens",
      "Preload      off",
    ]);
  });

  it("tells what is wrong and what runs", () => {
    const job = { jobId: "job_1", slug: "tiny-chat", type: "llmcpp" as const, forMs: 1_260 };
    const text = describeStatus({
      ...status,
      link: "waiting",
      closedBecause: "draining",
      runtimes: [],
      loaded: [{ slug: "tiny-chat", users: 1, ramBytes: 104_857_600, vramBytes: 2_097_152 }],
      memoryCaps: { ramBytes: 1_073_741_824, vramBytes: null },
      running: [job],
      lastProblem: "the coordinator is silent",
    });
    expect(text.split("\n")).toEqual([
      "Coordinator  https://host.example (waiting, draining)",
      expect.anything(),
      "Runtimes     none",
      "In memory    tiny-chat (100.0 MiB RAM, 2.0 MiB VRAM)",
      "For Cargos   1.0 GiB RAM, unknown VRAM",
      "Jobs         1 of 4 slots in use",
      expect.anything(),
      "Last problem the coordinator is silent",
      "  job_1  tiny-chat  1.3 s",
      "Preload      off",
    ]);
  });
});

describe("config", () => {
  it("stores a value and shows it alone, with its source among all, and never the token", async () => {
    await configCommand.set(dataDirectory, "slots", "7");
    await configCommand.set(dataDirectory, "coordinator.token", ISLAND_TOKEN);
    expect(await configCommand.get(dataDirectory, {}, "slots")).toBe("7");
    const all = await configCommand.get(dataDirectory, { ISLAND_GPU: "off" }, undefined);
    const row = (key: string): string => all.split("\n").find((line) => line.startsWith(`${key} `)) ?? "";
    expect(row("slots")).toMatch(/ 7 {2}\(file\)$/);
    expect(row("gpu")).toMatch(/ off {2}\(environment\)$/);
    expect(row("log_level")).toMatch(/ info {2}\(default\)$/);
    expect(all).not.toContain(ISLAND_TOKEN);
  });

  it("takes a value back, so that its default holds again", async () => {
    await configCommand.set(dataDirectory, "caps.ram_gb", "8");
    await configCommand.set(dataDirectory, "slots", "7");
    expect(await configCommand.unset(dataDirectory, "caps.ram_gb")).toBeNull();
    expect(await configCommand.get(dataDirectory, {}, "caps.ram_gb")).toBe("");
    expect(await configCommand.get(dataDirectory, {}, "slots")).toBe("7");
    expect(await configCommand.unset(dataDirectory, "caps.ram_gb")).toBeNull();
    await expect(configCommand.unset(dataDirectory, "slot")).rejects.toThrow("did you mean slots?");
  });

  it("says that a running agent must be restarted for a change", async () => {
    await mkdir(dataDirectory);
    await using _server = await ControlServer.open(dataDirectory, process.pid, { "GET /status": () => ({}) });
    expect(await configCommand.set(dataDirectory, "slots", "7")).toContain("restart it");
    expect(await configCommand.unset(dataDirectory, "slots")).toContain("restart it");
  });

  it("changes nothing for a key or value that it does not know", async () => {
    await expect(configCommand.set(dataDirectory, "slot", "7")).rejects.toThrow(ConfigError);
    await expect(configCommand.set(dataDirectory, "slots", "0")).rejects.toThrow(ConfigError);
    await expect(configCommand.set(dataDirectory, "coordinator.token", "xyz")).rejects.toThrow(
      "coordinator.token: (hidden) is not an Island token",
    );
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
    await expect(configCommand.get(dataDirectory, {}, "slot")).rejects.toThrow("did you mean slots?");
  });

  it("names its file", () => {
    expect(configCommand.path(dataDirectory)).toBe(join(dataDirectory, "config.toml"));
  });
});
