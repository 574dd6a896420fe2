import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { describeConfig, describeUnknownEnv, resolveConfig } from "../../../coordinator/config/resolve-config.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { registrationOf } from "../../../coordinator/config/exposure.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { WITHOUT_DEFAULT } from "./without-default.ts";

const EXAMPLE = new URL("../../../coordinator/config/example.toml", import.meta.url);

interface Raw {
  flags?: Record<string, unknown>;
  env?: Record<string, string>;
  toml?: string;
}

function resolve({ flags = {}, env = {}, toml }: Raw = {}) {
  return resolveConfig({
    flags,
    env,
    toml: toml === undefined ? null : { name: "atoll.toml", text: toml },
    shippedCatalogDirectory: "/shipped/catalog",
  });
}

function problemsOf(raw: Raw): readonly string[] {
  try {
    resolve(raw);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("resolveConfig()", () => {
  it("fills in every default, in the program's units", () => {
    const { inForce, ...config } = resolve();
    expect(inForce[0]).toEqual({ key: "host", shown: "127.0.0.1", source: "default" });
    expect(config).toEqual({
      host: "127.0.0.1",
      port: 8080,
      transport: "node",
      transportModule: "uWebSockets.js",
      dataDirectory: "./atoll-data",
      minFreeDiskBytes: 104_857_600,
      storeAddress: null,
      clusterKey: null,
      clusterKeyFile: null,
      busAddress: null,
      natsUser: null,
      natsPassword: null,
      natsToken: null,
      natsNkeyFile: null,
      natsCertFile: null,
      natsKeyFile: null,
      natsCredentialsFile: null,
      natsCaFile: null,
      peerUrl: null,
      leaseMs: 10_000,
      leaseRenewMs: 2_000,
      publicPage: true,
      publicUrl: null,
      defaultChatCargo: "tiny-chat",
      defaultEmbeddingCargo: null,
      defaultImageCargo: null,
      defaultTranscriptionCargo: null,
      defaultSpeechCargo: null,
      defaultModerationCargo: null,
      defaultRerankCargo: null,
      modelAliases: new Map(),
      newAccountMicro: 10_000_000_000,
      networkFee: 0.1,
      auditShare: 0.03,
      registration: null,
      smtpUrl: null,
      mailFrom: null,
      metricsToken: null,
      tracesUrl: null,
      tracesShare: 1,
      islandGraceMs: 15_000,
      hubUrl: "https://huggingface.co",
      hubToken: null,
      heartbeatMs: 10_000,
      islandSessionsPerToken: 50,
      islandSessionsPerAccount: 100,
      chatWaitMs: 60_000,
      restartGraceMs: 45_000,
      maxAttempts: 3,
      islandBackoffMs: 1_000,
      chatShare: 0.5,
      trialShare: 0.02,
      priorityPrice: 1,
      accountDailyBytes: 4_096 * MIB,
      acceptLimitMs: 5_000,
      startLimitMs: 30_000,
      firstOutputLimitMs: 60_000,
      silenceLimitMs: 60_000,
      feedDelayMs: 100,
      maxRunMs: 3_600_000,
      sseHeartbeatMs: 15_000,
      publicRequestsPerMinute: 300,
      maxOutputBytes: 16 * MIB,
      outputMemoryBytes: null,
      accountOutputMemoryBytes: null,
      islandOutputMemoryBytes: null,
      intakeMemoryBytes: null,
      islandIntakeBytes: 8 * MIB,
      answerMemoryBytes: null,
      webhookAllowPrivate: false,
      webhookRetryMs: 5_000,
      fileMaxBytes: 512 * 1_048_576,
      filesBudgetBytes: 4_096 * 1_048_576,
      filesDirectory: null,
      keepFilesMs: 30 * 86_400_000,
      keepInputsMs: 30 * 86_400_000,
      keepOutputsMs: 30 * 86_400_000,
      keepWebhookLogMs: 7 * 86_400_000,
      keepUnseenIslandsMs: 90 * 86_400_000,
      trustProxy: false,
      catalogDirectory: "/shipped/catalog",
      commandLine: expect.any(Function),
      logLevel: "info",
      logFormat: null,
    });
  });
  it("returns a frozen object", () => {
    expect(Object.isFrozen(resolve())).toBe(true);
  });
  it("prefers flags to the environment, the environment to the file, and the file to the default", () => {
    const toml = "port = 3";
    const env = { ATOLL_PORT: "2" };
    expect(resolve({ toml }).port).toBe(3);
    expect(resolve({ toml, env }).port).toBe(2);
    expect(resolve({ toml, env, flags: { port: "1" } }).port).toBe(1);
  });
  it("treats an empty variable as unset", () => {
    expect(resolve({ env: { ATOLL_PORT: "" } }).port).toBe(8080);
  });
  it("reads flags by their camel-cased name, as text or as parsed by a flag parser", () => {
    expect(resolve({ flags: { dataDirectory: "/data", trustProxy: true, islandGraceS: "0.05" } })).toMatchObject({
      dataDirectory: "/data",
      trustProxy: true,
      islandGraceMs: 50,
    });
  });
  it("removes the slash at the end of a URL", () => {
    expect(resolve({ toml: 'public_url = "https://a.example/sub/"' }).publicUrl).toBe("https://a.example/sub");
  });
  it("prefers a configured catalog directory to the shipped one", () => {
    expect(resolve({ env: { ATOLL_CATALOG_DIRECTORY: "/mine" } }).catalogDirectory).toBe("/mine");
  });
});

describe("resolveConfig() with invalid settings", () => {
  it.each<[string, Raw, string]>([
    ["words for a port", { env: { ATOLL_PORT: "soon" } }, 'ATOLL_PORT: must be an integer from 0 to 65535, got "soon"'],
    ["a port out of range", { flags: { port: "65536" } }, '--port: must be an integer from 0 to 65535, got "65536"'],
    [
      "a port with a fraction",
      { toml: "port = 80.5" },
      "atoll.toml: port: must be an integer from 0 to 65535, got 80.5",
    ],
    [
      "a quoted number in the file",
      { toml: 'port = "80"' },
      'atoll.toml: port: must be an integer from 0 to 65535, got "80"',
    ],
    [
      "an unknown registration mode",
      { env: { ATOLL_REGISTRATION: "shut" } },
      'ATOLL_REGISTRATION: must be one of open, email, closed, got "shut"',
    ],
    ["yes for true", { env: { ATOLL_TRUST_PROXY: "yes" } }, 'ATOLL_TRUST_PROXY: must be true or false, got "yes"'],
    [
      "a URL of another scheme",
      { flags: { publicUrl: "ftp://x" } },
      '--public-url: must be an http or https URL, got "ftp://x"',
    ],
    ["a fee above 1", { toml: "network_fee = 10" }, "atoll.toml: network_fee: must be a number from 0 to 1, got 10"],
    ["not a number", { toml: "network_fee = nan" }, "atoll.toml: network_fee: must be a number from 0 to 1, got null"],
    ["an empty text", { toml: 'host = ""' }, 'atoll.toml: host: must be one line of 1 to 1000 characters, got ""'],
    ["an unknown key", { toml: "prot = 1" }, "atoll.toml: prot: unknown key; did you mean port?"],
    [
      "an unknown table",
      { toml: "[server]\nheartbeat_s = 1" },
      "atoll.toml: server.heartbeat_s: unknown key; did you mean sse_heartbeat_s?",
    ],
  ])("rejects %s", (_, raw, problem) => {
    expect(problemsOf(raw)).toEqual([problem]);
  });
  it("rejects a file that is not TOML, with line and column", () => {
    expect(problemsOf({ toml: 'host = "a"\nport = = 1\n' })[0]).toMatch(/^atoll\.toml:2:8: /);
  });
  it("reports all problems at once", () => {
    expect(problemsOf({ toml: "prot = 1\nnetwork_fee = 2", env: { ATOLL_PORT: "x" } })).toHaveLength(3);
  });
});

describe("registration", () => {
  const chosen = (raw: Raw) => registrationOf(resolve(raw));
  const problems = (raw: Raw): readonly string[] => {
    try {
      chosen(raw);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
    return [];
  };
  const CREDIT = 1_000_000;

  it.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("is open on %s, with 10,000 credits", (host) => {
    const raw = { flags: { host, publicUrl: "http://127.0.0.1:8080" } };
    expect([chosen(raw), resolve(raw).newAccountMicro]).toEqual(["open", 10_000 * CREDIT]);
  });
  it.each([
    [{ host: "0.0.0.0" }, "host 0.0.0.0"],
    [{ host: "::" }, "host ::"],
    [{ host: "192.0.2.1", publicUrl: "http://localhost" }, "host 192.0.2.1"],
    [{ publicUrl: "https://atoll.example" }, "public_url https://atoll.example"],
    [{ trustProxy: true }, "trust_proxy"],
  ])("must be set with %o, and the error names the reason and the three choices", (flags, reason) => {
    const text = problems({ flags }).join("\n");
    for (const word of [`(${reason})`, "registration", '"closed"', '"email"', '"open"', "ATOLL_REGISTRATION"]) {
      expect(text).toContain(word);
    }
    expect(chosen({ flags: { ...flags, registration: "closed" } })).toBe("closed");
  });
  it("grants 10 credits if it is open to the network, unless new_account_credits is set", () => {
    const toml = 'host = "0.0.0.0"\nregistration = "open"';
    expect(resolve({ toml }).newAccountMicro).toBe(10 * CREDIT);
    expect(resolve({ toml: `${toml}\nnew_account_credits = 3` }).newAccountMicro).toBe(3 * CREDIT);
    expect(resolve({ toml: toml.replace("open", "closed") }).newAccountMicro).toBe(10_000 * CREDIT);
  });
  it("needs a mail server and a sender if it works by e-mail", () => {
    const toml = 'registration = "email"\nmail_from = "a@b"';
    expect(problems({ toml })).toEqual([
      "registration: email requires smtp_url and mail_from. Set both, or choose another registration",
    ]);
    expect(problems({ toml, env: { ATOLL_SMTP_URL: "mail.example" } })).toEqual([
      "smtp_url: must be a URL that begins with smtp:// or smtps://, got (hidden)",
    ]);
    expect(chosen({ toml, env: { ATOLL_SMTP_URL: "smtps://u:p@mail.example" } })).toBe("email");
  });
});

describe("example.toml", () => {
  const text = readFileSync(EXAMPLE, "utf8");
  it("is valid, and changes nothing when it is used unchanged", () => {
    expect(problemsOf({ toml: text })).toEqual([]);
    expect({ ...resolve({ toml: text }), inForce: [] }).toEqual({ ...resolve(), inForce: [] });
  });
  it("is valid with its commented keys", () => {
    const toml = text.replaceAll(/^# (\w+ = )/gm, "$1");
    expect(resolve({ toml })).toMatchObject({
      publicUrl: "https://atoll.example",
      catalogDirectory: "/etc/atoll/catalog",
    });
  });
  it("shows every key, with its default if it has one", () => {
    const lines = text.split("\n");
    for (const { key, fallback } of describeConfig()) {
      const isCommented = WITHOUT_DEFAULT.has(key) || key.endsWith("_memory_mb");
      const line = lines.find((candidate) => candidate.startsWith(`${isCommented ? "# " : ""}${key} = `));
      expect(line, key).toBeDefined();
      if (isCommented) continue;
      expect(line?.replace(/\s+#.*$/, "")).toMatch(new RegExp(`^${key} = "?${fallback.replaceAll(".", "\\.")}"?$`));
    }
  });
});

describe("describeConfig()", () => {
  it("returns flag, variable, default, range and meaning of each key", () => {
    expect(describeConfig().find(({ key }) => key === "island_grace_s")).toEqual({
      key: "island_grace_s",
      flag: "--island-grace-s",
      env: "ATOLL_ISLAND_GRACE_S",
      fallback: "15",
      type: "<seconds>",
      group: "Islands",
      allowed: "a number from 0 to 3600",
      meaning: "Grace period in which a lost Island can reconnect before other Islands get its jobs",
    });
  });
  it("gives each key a meaning and lists none twice", () => {
    const entries = describeConfig();
    expect(entries.every((entry) => entry.meaning !== "")).toBe(true);
    expect(new Set(entries.map((entry) => entry.key)).size).toBe(entries.length);
  });
});

it("describeUnknownEnv() names unknown variables with the nearest setting", () => {
  expect(describeUnknownEnv({ ATOLL_PORT: "1", ATOLL_PASSWORD: "x", ATOLL_API_KEY: "x", PATH: "x" })).toBeNull();
  expect(describeUnknownEnv({ ATOLL_DATA: "x" })).toMatch(/: ATOLL_DATA \(did you mean ATOLL_\w+\?\)$/);
});
