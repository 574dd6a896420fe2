import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { assertCluster, busConnectionOf, storeLocationOf } from "../../../coordinator/config/cluster-settings.ts";
import { describeConfig, resolveConfig } from "../../../coordinator/config/resolve-config.ts";
import { ConfigError } from "../../../shared/settings.ts";

const KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const STORE = "postgres://atoll:secret@db.example/atoll";

const resolve = (env: Record<string, string>) =>
  resolveConfig({ flags: {}, env, toml: null, shippedCatalogDirectory: "/shipped" });

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    assertCluster(resolve(env));
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("the setting store", () => {
  it("selects the data directory, or the database with its key in hex or base64", async () => {
    expect(await storeLocationOf(resolve({ ATOLL_DATA_DIRECTORY: "/data" }))).toBe("/data");
    for (const text of [KEY.toString("hex"), KEY.toString("base64"), KEY.toString("base64").replace("=", "")]) {
      const place = await storeLocationOf(resolve({ ATOLL_STORE: STORE, ATOLL_CLUSTER_KEY: text }));
      expect(place).toEqual({ address: STORE, key: KEY });
    }
  });

  it("uses the key from a file unless the key itself is set", async () => {
    const directory = mkdtempSync(join(tmpdir(), "atoll-key-"));
    const file = join(directory, "cluster.key");
    try {
      writeFileSync(file, `${KEY.toString("hex")}\n`);
      const env = { ATOLL_STORE: STORE, ATOLL_CLUSTER_KEY_FILE: file };
      expect(await storeLocationOf(resolve(env))).toEqual({ address: STORE, key: KEY });
      writeFileSync(file, "short");
      await expect(storeLocationOf(resolve(env))).rejects.toThrow(/cluster\.key: must contain a cluster key: 32 bytes/);
      const both = { ...env, ATOLL_CLUSTER_KEY: KEY.toString("hex") };
      expect(await storeLocationOf(resolve(both))).toEqual({ address: STORE, key: KEY });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("is refused without a key or with an unknown kind, and the error hides the password", async () => {
    await expect(storeLocationOf(resolve({ ATOLL_STORE: STORE }))).rejects.toThrow(/cluster_key: required with store/);
    expect(problemsOf({ ATOLL_STORE: "mysql://atoll:secret@db" })).toEqual([
      "ATOLL_STORE: must be an address that begins with postgres://, got (hidden)",
    ]);
    expect(problemsOf({ ATOLL_CLUSTER_KEY: "abc" })).toEqual([
      "ATOLL_CLUSTER_KEY: must be 32 bytes in base64 or hex (generate one with: openssl rand -hex 32), got (hidden)",
    ]);
  });

  it("has a flag, but its key has none", () => {
    const flagOf = (key: string) => describeConfig().find((each) => each.key === key)?.flag;
    expect([flagOf("store"), flagOf("bus"), flagOf("cluster_key"), flagOf("nats_token")]).toEqual([
      "--store",
      "--bus",
      null,
      null,
    ]);
  });
});

describe("the setting bus", () => {
  const place = (bus: string, more: Record<string, string> = {}) =>
    busConnectionOf(resolve({ ATOLL_BUS: bus, ...more }));

  it("allows only one identity at the servers", () => {
    const env = { ATOLL_STORE: STORE, ATOLL_BUS: "nats://atoll:secret@bus.example" };
    expect(problemsOf(env)).toEqual([]);
    expect(problemsOf({ ...env, ATOLL_NATS_NKEY_FILE: "/key", ATOLL_NATS_CREDENTIALS_FILE: "/creds" })).toEqual([
      "nats_user, nats_nkey_file, nats_credentials_file: at most one may be set",
    ]);
  });

  it("is unset, or names servers and credentials", () => {
    expect(busConnectionOf(resolve({}))).toBeNull();
    const identity = { user: null, password: null, token: null, credentialsFile: null, nkeyFile: null };
    const none = { ...identity, caFile: null, certFile: null, keyFile: null, isTls: false };
    expect(place("nats://a:4222, nats://b")).toEqual({ ...none, servers: ["a:4222", "b"] });
    const [user, password] = ["me", "p@ss"];
    expect(place("tls://me:p%40ss@a:1,tls://b:2")).toEqual({
      ...none,
      servers: ["a:1", "b:2"],
      user,
      password,
      isTls: true,
    });
    const more = { ATOLL_NATS_TOKEN: "t", ATOLL_NATS_CREDENTIALS_FILE: "/c", ATOLL_NATS_CA_FILE: "/ca" };
    expect(place("nats://a", more)).toMatchObject({ token: "t", credentialsFile: "/c", caFile: "/ca" });
    const own = { ATOLL_NATS_CERT_FILE: "/cert", ATOLL_NATS_KEY_FILE: "/key", ATOLL_NATS_NKEY_FILE: "/seed" };
    expect(place("nats://a", own)).toMatchObject({ certFile: "/cert", keyFile: "/key", nkeyFile: "/seed" });
    const named = { ATOLL_NATS_USER: "you", ATOLL_NATS_PASSWORD: "secret" };
    expect(place("nats://a", named)).toMatchObject({ user: "you", password: "secret" });
    expect(place("nats://me:p%40ss@a", named)).toMatchObject({ user, password });
  });

  it.each(["", "http://a", "nats://a,http://b", "nats://a,,nats://b", "a:4222"].filter(Boolean))(
    "rejects %s",
    (bus) => {
      expect(problemsOf({ ATOLL_BUS: bus, ATOLL_STORE: STORE })).toEqual([
        "ATOLL_BUS: must be nats://host:port, or several of them separated by commas, got (hidden)",
      ]);
    },
  );

  it("needs a store that the coordinators share, and leases that are renewed in time", () => {
    expect(problemsOf({ ATOLL_BUS: "nats://a" })).toEqual([
      "bus: requires store, the database that the coordinators share. Set store, or unset bus",
    ]);
    expect(problemsOf({ ATOLL_NATS_CERT_FILE: "/cert" })).toEqual([
      "nats_cert_file, nats_key_file: must both be set or both be unset, because a certificate requires its private key",
    ]);
    expect(problemsOf({ ATOLL_LEASE_MS: "1000" })).toEqual([
      "lease_renew_ms: must be at most half of lease_ms (1000), got 2000",
    ]);
  });
});
