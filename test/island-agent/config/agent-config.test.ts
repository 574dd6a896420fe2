import { describe, expect, it } from "vitest";
import {
  describeUnknownEnv,
  getKey,
  listKeys,
  resolveAgentConfig,
  allSlotsFor,
  threadsFor,
} from "../../../island-agent/config/resolve-agent-config.ts";
import { describePolicy, policyOf } from "../../../island-agent/config/owner-policy.ts";
import { AGENT_ENV_PREFIX, AGENT_SETTINGS } from "../../../island-agent/config/agent-settings.ts";
import { describeSettings, type SettingSources } from "../../../shared/settings.ts";
import { ISLAND_TOKEN } from "../builders.ts";

const GB = 1_073_741_824;

function sources(text: string, env: Record<string, string> = {}, flags: Record<string, unknown> = {}): SettingSources {
  return { file: { name: "config.toml", text }, env, flags };
}

interface Owner {
  readonly threads?: number | null;
  readonly cap?: number | null;
}

describe("resolveAgentConfig()", () => {
  it("returns all defaults, and null for those that depend on the hardware", () => {
    expect(resolveAgentConfig({ file: null, env: {}, flags: {} })).toEqual({
      coordinator: { apiUrls: null, token: null, publicKey: null, accountId: null },
      slots: null,
      threads: null,
      hours: null,
      gpu: "auto",
      sandbox: "auto",
      engines: { urls: [], apiKey: null, slots: null, allowRemote: false, command: null },
      models: {
        diskBudgetBytes: 50 * GB,
        minFreeBytes: 5 * GB,
        preload: true,
        hubEndpoint: "https://huggingface.co",
        hubToken: null,
        allowPrivateAddresses: false,
      },
      containers: {
        enabled: true,
        registries: ["docker.io", "ghcr.io"],
        diskBudgetBytes: 20 * GB,
        network: false,
        nameServers: ["1.1.1.1", "9.9.9.9"],
        gpu: true,
        gpuDevices: null,
        runtime: null,
      },
      cargos: { allowRuntimes: null, denyRuntimes: null, allowCategories: null, denyCategories: null, signedBy: null },
      caps: { ramBytes: null, vramBytes: null, logicalCores: null },
      hardware: { ramBytes: null, vramBytes: null, physicalCores: null },
      logLevel: "info",
      logFormat: null,
    });
  });
  it("reads the tables of the file, and converts to bytes", () => {
    const text = '[coordinator]\napi_url = "http://localhost:8080/"\n[caps]\nram_gb = 1.5\n[hardware]\nvram_gb = 24';
    const config = resolveAgentConfig(sources(text));
    expect(config.coordinator.apiUrls).toEqual(["http://localhost:8080"]);
    expect(config.caps.ramBytes).toBe(1.5 * GB);
    expect(config.hardware.vramBytes).toBe(24 * GB);
  });
  it("prefers flags to ISLAND_* variables, and variables to the file", () => {
    const env = { ISLAND_MODELS_DISK_BUDGET_GB: "2" };
    const text = "[models]\ndisk_budget_gb = 1";
    expect(resolveAgentConfig(sources(text)).models.diskBudgetBytes).toBe(GB);
    expect(resolveAgentConfig(sources(text, env)).models.diskBudgetBytes).toBe(2 * GB);
    expect(resolveAgentConfig(sources(text, env, { modelsDiskBudgetGb: "3" })).models.diskBudgetBytes).toBe(3 * GB);
  });
  it("suggests the nearest key for an unknown key", () => {
    expect(() => resolveAgentConfig(sources("[models]\ndisk_buget_gb = 1"))).toThrow(
      "config.toml: models.disk_buget_gb: unknown key; did you mean models.disk_budget_gb?",
    );
  });
  it("does not show an invalid secret", () => {
    const tooLong = "it_".padEnd(2_000, "x");
    expect(() => resolveAgentConfig(sources("", { ISLAND_COORDINATOR_TOKEN: tooLong }))).toThrow(
      "ISLAND_COORDINATOR_TOKEN: must be an Island token",
    );
  });
  it("reads the addresses of several coordinators, without duplicates", () => {
    const text = '[coordinator]\napi_url = "https://a.example/, https://b.example/atoll,https://a.example"';
    expect(resolveAgentConfig(sources(text)).coordinator.apiUrls).toEqual([
      "https://a.example",
      "https://b.example/atoll",
    ]);
    for (const wrong of ["https://a.example,", "https://a.example,b.example", "ftp://a.example"]) {
      expect(() => resolveAgentConfig(sources("", { ISLAND_COORDINATOR_API_URL: wrong }))).toThrow(
        "must be one or more http or https URLs, separated by commas, got ",
      );
    }
  });
  it("reads the hours, and gives an example if they are invalid", () => {
    expect(resolveAgentConfig(sources('hours = "22:00-07:00"')).hours).toEqual([{ from: 1_320, to: 420 }]);
    expect(() => resolveAgentConfig(sources('hours = "at night"'))).toThrow("such as 22:00-07:00");
  });

  it.each([
    ['[cargos]\nallow_runtimes = "llmcpp, wasms"', /must be a list of container, wasm.*, got "llmcpp, wasms"/],
    ['[cargos]\nsigned_by = "abc"', /must be Ed25519 public keys .*, got "abc"/],
    ['[containers]\ndns = "192.168.1.1"', /must be public addresses of name servers.*, got "192\.168\.1\.1"/],
    ['[containers]\nruntime = "../runsc"', /must be the name of a runtime/],
  ])("refuses rules with invalid entries: %s", (text, message) => {
    expect(() => resolveAgentConfig(sources(text))).toThrow(message);
  });
  it("returns lists from which policyOf() makes the owner's rules", () => {
    const text = '[containers]\nnetwork = true\n[cargos]\ndeny_runtimes = "container"\nallow_categories = "llm, text"';
    const config = resolveAgentConfig(sources(text));
    const policy = policyOf(config, true);
    expect(describePolicy(policy)).toEqual([
      "containers with a network",
      "not the runtimes container",
      "only the categories llm, text",
    ]);
    expect(policyOf(config, false).network).toBe(false);
  });

  it("reads image registries, and refuses invalid ones", () => {
    const text = '[containers]\nregistries = "ghcr.io/atoll, 127.0.0.1:5000"';
    expect(resolveAgentConfig(sources(text)).containers.registries).toEqual(["ghcr.io/atoll", "127.0.0.1:5000"]);
    expect(() => resolveAgentConfig(sources('[containers]\nregistries = "library"'))).toThrow("such as docker.io");
  });

  it("reads the words of the command that starts an engine, in which quotes keep spaces", () => {
    const text = `[engines]\ncommand = '"/opt/my llama/llama-server" -m {model} --host {socket} -np {slots}'`;
    expect(resolveAgentConfig(sources(text)).engines.command).toEqual([
      ...["/opt/my llama/llama-server", "-m", "{model}", "--host", "{socket}", "-np", "{slots}"],
    ]);
  });
  it.each([
    ["no model", "llama-server --port {port}"],
    ["no address", "llama-server -m {model}"],
    ["two addresses", "llama-server -m {model} --port {port} --host {socket}"],
    ["an unknown placeholder", "llama-server -m {model} --port {port} -np {slot}"],
  ])("refuses a command of an engine with %s", (_what, command) => {
    expect(() => resolveAgentConfig(sources(`[engines]\ncommand = "${command}"`))).toThrow(
      "must be a command with {model} and either {socket} or {port}",
    );
  });

  it("ignores flags for secrets", () => {
    expect(resolveAgentConfig(sources("", {}, { coordinatorToken: "it_x" })).coordinator.token).toBeNull();
    expect(
      describeSettings(AGENT_SETTINGS, AGENT_ENV_PREFIX).find(({ key }) => key === "coordinator.token")?.flag,
    ).toBeNull();
  });
});

describe("threadsFor()", () => {
  it.each([
    [1, {}, 1],
    [2, {}, 1],
    [8, {}, 7],
    [8, { threads: 12 }, 12],
    [8, { cap: 3 }, 3],
    [8, { threads: 12, cap: 4 }, 4],
  ])("returns for %i physical cores and %j: %i", (cores, { threads = null, cap = null }: Owner, expected) => {
    const caps = { ramBytes: null, vramBytes: null, logicalCores: cap };
    expect(threadsFor({ threads, caps }, cores)).toBe(expected);
  });
});

describe("allSlotsFor()", () => {
  it.each([
    [null, true, 0, 4],
    [null, true, 8, 12],
    [null, false, 8, 8],
    [null, false, 0, 1],
    [null, true, 2_048, 1_000],
    [2, true, 8, 2],
  ])(
    "returns for the setting %j, runtimes (%j) and %i slots of engines: %i",
    (slots, hasRuntimes, engineSlots, expected) => {
      expect(allSlotsFor({ slots }, hasRuntimes, engineSlots)).toBe(expected);
    },
  );
});

describe("getKey() and listKeys()", () => {
  it("return a value in the key's units, with its source", () => {
    expect(getKey(sources("[models]\ndisk_budget_gb = 12.5"), "models.disk_budget_gb")).toEqual({
      key: "models.disk_budget_gb",
      shown: "12.5",
      source: "file",
    });
    expect(getKey(sources(""), "gpu")).toEqual({ key: "gpu", shown: "auto", source: "default" });
    expect(getKey(sources("", { ISLAND_SLOTS: "2" }), "slots").source).toBe("environment");
  });
  it("hide secrets", () => {
    const shown = listKeys(sources(`[coordinator]\ntoken = "${ISLAND_TOKEN}"`));
    expect(shown.find(({ key }) => key === "coordinator.token")?.shown).toBe("(hidden)");
    expect(JSON.stringify(shown)).not.toContain(ISLAND_TOKEN);
  });
  it("refuse an unknown key, and suggest the nearest", () => {
    expect(() => getKey(sources(""), "slot")).toThrow("slot: unknown key; did you mean slots?");
  });
});

it("describeUnknownEnv() names unknown variables, with the nearest setting", () => {
  expect(describeUnknownEnv({ ISLAND_SLOTS: "2", ATOLL_PORT: "80", ATOLL_ISLAND_DATA: "/x" })).toBeNull();
  expect(describeUnknownEnv({ ATOLL_SLOTS: "2", ISLAND_HOUR: "x" })).toBe(
    "Unknown environment variables: ISLAND_HOUR (did you mean ISLAND_HOURS?), ATOLL_SLOTS (did you mean ISLAND_SLOTS?)",
  );
});
