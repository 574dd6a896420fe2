import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  addEngine,
  checkLentEngines,
  describeAdded,
  describeChecked,
  describeFound,
  describeList,
  findEngines,
  listEngines,
  removeEngine,
} from "../../../island-agent/cli/engines-commands.ts";
import { configCommand } from "../../../island-agent/cli/config-command.ts";
import { storeKey, storeKeys } from "../../../island-agent/config/config-file.ts";
import { openControlServer } from "../../../island-agent/control/control-server.ts";
import { freePort } from "../../support/free-port.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { EngineReplay } from "../../support/servers/engine-replay.ts";
import { PLAIN_PATHS, ScriptedEngine } from "../../support/servers/scripted-engine.ts";
import { NO_AGENT_STATUS } from "../../support/no-agent-status.ts";
import { dataDirectory, messageOf, useDataDirectory } from "./command-world.ts";

useDataDirectory();

const here = () => ({ dataDirectory, env: {} });
const NO_KEY = { ask: null };
const lent = () => configCommand.get(dataDirectory, {}, "engines.urls");
const add = (url: string) => addEngine(here(), url, NO_KEY);

describe("island engines find", () => {
  it("shows each engine with its models, and what proves which model it is", async () => {
    await using ollama = await EngineReplay.open("ollama");
    await using plain = await ScriptedEngine.open(PLAIN_PATHS);
    const found = await findEngines(here(), [Number(new URL(ollama.url).port), plain.port]);
    expect(describeFound(found, (url) => `island engines add ${url}`).split("\n")).toEqual([
      `Ollama with 1 model at ${ollama.url}`,
      "  llama3.2:latest, 32768 tokens of context, proved by the hash of its file",
      `  To lend it: island engines add ${ollama.url}`,
      `OpenAI-compatible with 1 model at ${plain.url}`,
      "  plain, context unknown, declared by you: nothing proves which model it is",
      `  To lend it: island engines add ${plain.url}`,
    ]);
  });

  it("counts the model of a llama-server as declared if its file cannot be read", async () => {
    const props = (path: string) => ({
      total_slots: 2,
      model_path: path,
      default_generation_settings: { n_ctx: 512 },
    });
    const identity = async (path: string) => {
      const paths = { "/v1/models": { data: [{ id: "m" }] }, "/lora-adapters": [] };
      await using engine = await ScriptedEngine.open({ ...paths, "/props": props(path) });
      const [found] = await findEngines(here(), [engine.port]);
      return found?.engine?.models[0]?.identity;
    };
    expect(await identity(import.meta.filename)).toBe("file hash");
    expect(await identity("/missing.gguf")).toBe("declared");
  });

  it("names a server that requires an API key, and sends the stored key only to lent engines", async () => {
    await using locked = await ScriptedEngine.open(PLAIN_PATHS, "sk-1");
    const look = () => findEngines(here(), [locked.port]);
    await storeKey(dataDirectory, "engines.api_key", "sk-1");
    expect(describeFound(await look(), () => "COMMAND")).toBe(
      `A server at ${locked.url} requires an API key\n  To lend it: COMMAND`,
    );
    expect(locked.keys).not.toContain("Bearer sk-1");
    await storeKey(dataDirectory, "engines.urls", locked.url);
    expect(await look()).toMatchObject([{ isLent: true, engine: { name: "OpenAI-compatible" } }]);
  });

  it("omits coordinators, other servers, and servers that do not respond within 2 s", async () => {
    await using coordinator = await TestCoordinator.open();
    await using other = await ScriptedEngine.open({ "/": "It works!" });
    await using hanging = await ScriptedEngine.open({ "/": () => undefined });
    const ports = [Number(new URL(coordinator.url).port), other.port, hanging.port, await freePort()];
    const found = await findEngines(here(), ports);
    expect(found).toEqual([]);
    expect(describeFound(found, (url) => `island engines add ${url}`)).toMatch(
      /^No engine was found at the usual ports \([\d, ]*11434.*lend it with: island engines add URL$/,
    );
  });
});

describe("island engines add", () => {
  it("stores the URL without its API path, and shows what it lends", async () => {
    await using ollama = await EngineReplay.open("ollama");
    const added = await add(`${ollama.url}/v1/`);
    expect(await lent()).toBe(ollama.url);
    expect(describeAdded(added, "island start")).toBe(
      `Lends Ollama with 1 model at ${ollama.url}. It gets jobs after: island start`,
    );
  });

  it("shows which models are only declared", async () => {
    await using plain = await ScriptedEngine.open(PLAIN_PATHS);
    expect(describeAdded(await add(plain.url), "island start").split("\n")[1]).toBe(
      "  plain, context unknown, declared by you: nothing proves which model it is",
    );
  });

  it("refuses what cannot be lent, and stores nothing", async () => {
    await using coordinator = await TestCoordinator.open();
    await using other = await ScriptedEngine.open({ "/": "It works!" });
    const closed = `http://127.0.0.1:${await freePort()}`;
    const url = coordinator.url;
    expect(await messageOf(add("localhost:11434"))).toBe(
      'URL of the engine: must begin with http:// or https://, got "localhost:11434". Did you mean http://localhost:11434?',
    );
    expect(await messageOf(add("http://a,http://b"))).toContain('got "http://a,http://b"');
    expect(await messageOf(add("http://me:pw@127.0.0.1"))).toMatch(/^URL of the engine: must not contain a user name/);
    expect(await messageOf(add("http://10.1.2.3:8080"))).toContain("engines.allow_remote true");
    expect(await messageOf(add(url))).toBe(`${url} is an Atoll coordinator, not an engine. Give the URL of the engine`);
    expect(await messageOf(add(other.url))).toBe("Not lent: No API of an engine: GET /v1/models does not list models");
    expect(await messageOf(add(closed))).toBe(
      `Not lent: The engine at ${closed} does not respond: connect ECONNREFUSED ${new URL(closed).host}`,
    );
    await using damaged = await ScriptedEngine.open({ "/": "Ollama is running", "/api/tags": {} });
    expect(await messageOf(add(damaged.url))).toMatch(
      new RegExp(`^Not lent: The engine at ${damaged.url} does not respond as an engine does: `),
    );
    expect(await lent()).toBe("");
  });

  it("refuses an engine that is lent already, also under the name localhost", async () => {
    await using plain = await ScriptedEngine.open(PLAIN_PATHS);
    await add(plain.url);
    const named = `http://localhost:${plain.port}`;
    expect(await messageOf(add(named))).toBe(`${named} is lent already. To see its state: island engines check`);
  });

  it("refuses to change a list that a variable overrides", async () => {
    const env = { ISLAND_ENGINES_URLS: "http://127.0.0.1:1" };
    const added = addEngine({ dataDirectory, env }, "http://127.0.0.1:2", NO_KEY);
    expect(await messageOf(added)).toMatch(/^The variable ISLAND_ENGINES_URLS overrides/);
  });

  it("asks for the API key if the engine requires one, or reads it from a file", async () => {
    await using one = await ScriptedEngine.open(PLAIN_PATHS, "sk-1");
    await using two = await ScriptedEngine.open(PLAIN_PATHS, "sk-1");
    const advice = "Give its key in a file: --api-key-file FILE";
    expect(await messageOf(add(one.url))).toBe(`Not lent: the engine at ${one.url} requires an API key. ${advice}`);
    const ask = (key: string) => () => Promise.resolve(key);
    expect(await messageOf(addEngine(here(), one.url, { ask: ask("sk-2") }))).toBe(
      `Not lent: the engine at ${one.url} rejects the API key. ${advice}`,
    );
    await addEngine(here(), one.url, { ask: ask(" sk-1 ") });
    expect(await configCommand.get(dataDirectory, {}, "engines.api_key")).toBe("(hidden)");
    await removeEngine(here(), one.url);
    const file = join(dirname(dataDirectory), "key");
    await writeFile(file, "sk-1\n");
    await addEngine(here(), one.url, { file, ask: null });
    // The stored key fits.
    await add(two.url);
    expect(await lent()).toBe(`${one.url},${two.url}`);
  });

  it("refuses an engine with another API key than the lent ones have", async () => {
    await using one = await ScriptedEngine.open(PLAIN_PATHS, "sk-1");
    await using two = await ScriptedEngine.open(PLAIN_PATHS, "sk-2");
    await addEngine(here(), one.url, { ask: () => Promise.resolve("sk-1") });
    expect(await messageOf(addEngine(here(), two.url, { ask: () => Promise.resolve("sk-2") }))).toMatch(
      /^All engines share one API key/,
    );
    expect(await lent()).toBe(one.url);
  });
});

describe("island engines list", () => {
  it("shows the state in the running agent", async () => {
    await storeKeys(dataDirectory, { "engines.urls": "http://127.0.0.1:1,http://127.0.0.1:2" });
    const engines = [{ url: "http://127.0.0.1:1", name: "Ollama", state: "ready", slots: 4, models: ["a", "b"] }];
    expect(describeList(await listEngines(here()), 200).split("\n")[1]).toBe("http://127.0.0.1:1  no agent runs");
    await using _server = await openControlServer(dataDirectory, process.pid, {
      "GET /status": () => ({ ...NO_AGENT_STATUS, engines }),
    });
    expect(
      describeList(await listEngines(here()), 200)
        .split("\n")
        .slice(0, 2),
    ).toEqual([
      "URL                 ENGINE  STATE          SLOTS  MODELS",
      "http://127.0.0.1:1  Ollama  ready          4      a, b",
    ]);
  });
});

describe("island engines check", () => {
  it("shows slots and where their number is from, and problems with what to do", async () => {
    await using ollama = await EngineReplay.open("ollama");
    ollama.responses["GET /api/tags"] = { models: [] };
    await using plain = await ScriptedEngine.open(PLAIN_PATHS);
    const closed = `http://127.0.0.1:${await freePort()}`;
    const urls = [ollama.url, plain.url, closed, "http://10.1.2.3"];
    await storeKey(dataDirectory, "engines.urls", urls.join(","));
    const checked = await checkLentEngines(here());
    expect(checked.map(({ problem }) => problem)).toEqual([
      "It serves no model. Load one in the engine",
      null,
      expect.stringMatching(new RegExp(`ECONNREFUSED.*island engines remove ${closed}$`)) as string,
      expect.stringContaining("island config set engines.allow_remote true") as string,
    ]);
    expect(describeChecked(checked).split("\n").slice(0, 5)).toEqual([
      `Ollama at ${ollama.url}, slots are measured by the agent`,
      "  Problem: It serves no model. Load one in the engine",
      `OpenAI-compatible at ${plain.url}, slots are measured by the agent`,
      "  plain, context unknown, declared by you: nothing proves which model it is",
      closed,
    ]);
    await storeKeys(dataDirectory, { "engines.slots": "3", "cargos.allow_runtimes": "llmcpp" });
    expect((await checkLentEngines(here()))[1]).toMatchObject({
      slots: 3,
      slotsAre: "set by you",
      problem: expect.stringMatching(/^It gets no jobs, because cargos.allow_runtimes/) as string,
    });
  });

  it("shows what the running agent has measured, and why an engine gets no jobs", async () => {
    await using plain = await ScriptedEngine.open(PLAIN_PATHS);
    await storeKey(dataDirectory, "engines.urls", plain.url);
    const status = {
      url: plain.url,
      name: "OpenAI-compatible",
      state: "ready",
      models: ["plain"],
      declared: ["plain"],
      slots: 2,
      running: 0,
      othersRunning: 1,
      problem: null,
      pauseMs: null,
    };
    let shown: object = status;
    await using _server = await openControlServer(dataDirectory, process.pid, {
      "GET /status": () => ({ ...NO_AGENT_STATUS, engines: [shown] }),
    });
    expect(describeChecked(await checkLentEngines(here())).split("\n")[0]).toBe(
      `OpenAI-compatible at ${plain.url}, 2 slots (measured), 1 run of other clients`,
    );
    shown = { ...status, state: "paused", pauseMs: 30_000, problem: "out of memory" };
    expect((await checkLentEngines(here()))[0]?.problem).toBe(
      `It responds, but gets no jobs from the running agent. OpenAI-compatible at ${plain.url}: paused for 30 s: out of memory`,
    );
  });
});

describe("island engines remove", () => {
  it("removes one engine, and with the last one the API key", async () => {
    const [one, two] = ["http://127.0.0.1:1", "http://127.0.0.1:2"];
    await storeKeys(dataDirectory, { "engines.urls": `${one},${two}`, "engines.api_key": "sk-1" });
    expect(await removeEngine(here(), `${one}/v1`)).toBe(`Removed ${one}`);
    expect(await lent()).toBe(two);
    expect(await messageOf(removeEngine(here(), one))).toBe(
      `${one} is not lent. List the engines with: island engines list`,
    );
    await removeEngine(here(), "http://localhost:2");
    expect([await lent(), await configCommand.get(dataDirectory, {}, "engines.api_key")]).toEqual(["", ""]);
  });
});
