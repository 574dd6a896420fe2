import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { describeConfig, resolveConfig } from "../../coordinator/config/resolve-config.ts";
import { readCompose, type ComposeFile } from "./compose-schema.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const fileAt = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const VARIABLES: Readonly<Record<string, string>> = {
  ATOLL_DOMAIN: "atoll.example",
  POSTGRES_PASSWORD: "secret",
  NATS_TOKEN: "token",
};
const KNOWN = new Set(describeConfig().map(({ env }) => env));

/** Parses a Compose file like `docker compose`, with merge keys and variables. */
function composeFile(path = "deploy/compose.yaml"): ComposeFile {
  const text = fileAt(path).replaceAll(
    /\$\{(\w+)(?::(?:\?[^}]*|-([^}]*)))?\}/g,
    (_, name: string, otherwise?: string) => {
      const value = VARIABLES[name] ?? otherwise;
      if (value === undefined) throw new Error(`deploy/README.md does not set ${name}`);
      return value;
    },
  );
  return readCompose(parse(text, { merge: true }));
}

const coordinatorsOf = ({ services }: ComposeFile): [string, NonNullable<(typeof services)[string]["environment"]>][] =>
  Object.entries(services).flatMap(([name, { environment = {} }]) =>
    name.startsWith("coordinator-") ? [[name, environment]] : [],
  );

function assertSettings(env: Readonly<Record<string, unknown>>): void {
  expect(Object.keys(env).filter((name) => name.startsWith("ATOLL_") && !KNOWN.has(name))).toEqual([]);
  const texts = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
  // Throws for an invalid value.
  resolveConfig({ flags: {}, env: texts, toml: null, shippedCatalogDirectory: "catalog" });
}

describe("deploy/compose.yaml", () => {
  const compose = composeFile();

  it("has three coordinators with valid settings that differ only in their addresses", () => {
    const coordinators = coordinatorsOf(compose);
    expect(coordinators).toHaveLength(3);
    for (const [, environment] of coordinators) assertSettings(environment);
    const shared = coordinators.map(([, environment]) => ({ ...environment, ATOLL_PEER_URL: "" }));
    expect(shared).toEqual([shared[0], shared[0], shared[0]]);
    expect(new Set(coordinators.map(([, { ATOLL_PEER_URL }]) => ATOLL_PEER_URL)).size).toBe(3);
  });

  it("refers only to declared services, volumes and secrets", () => {
    const { services, volumes, secrets = {} } = compose;
    for (const [name, service] of Object.entries(services)) {
      const needed = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
      expect(Object.keys(services), name).toEqual(expect.arrayContaining(needed));
      expect(Object.keys(secrets), name).toEqual(expect.arrayContaining(service.secrets ?? []));
      const named = (service.volumes ?? []).flatMap((volume) => (volume.startsWith(".") ? [] : [volume.split(":")[0]]));
      expect(Object.keys(volumes), name).toEqual(expect.arrayContaining(named));
    }
  });

  it("waits until PostgreSQL is ready, and stores its data and JetStream's in volumes", () => {
    const { services } = compose;
    expect(services["postgres"]).toMatchObject({ healthcheck: {}, volumes: [expect.stringMatching(/^postgres:/)] });
    expect(services["nats"]?.command).toEqual(expect.arrayContaining(["-js", "-sd", "/data"]));
    expect(services["coordinator-1"]?.depends_on).toMatchObject({ postgres: { condition: "service_healthy" } });
  });

  it("a misspelt key is rejected", () => {
    const wrong = { ...compose, services: { nats: { image: "nats:2", comand: "-js" } } };
    expect(() => readCompose(wrong)).toThrow("comand");
  });
});

describe("deploy/single/compose.yaml", () => {
  it("has a coordinator on the loopback address and an Island, both read-only, unprivileged and with a volume", () => {
    const { services, volumes } = composeFile("deploy/single/compose.yaml");
    expect(Object.keys(services)).toEqual(["coordinator", "island"]);
    expect(Object.keys(volumes)).toEqual(["coordinator", "island"]);
    for (const service of Object.values(services)) {
      expect(service).toMatchObject({ read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"] });
      expect(service.security_opt).toEqual(["no-new-privileges:true"]);
    }
    expect(services["coordinator"]?.ports).toEqual(["127.0.0.1:8080:8080"]);
    assertSettings(services["coordinator"]?.environment ?? {});
  });
});

describe("deploy/Caddyfile", () => {
  const caddyfile = fileAt("deploy/Caddyfile");

  it("routes to all coordinators, and to each one by the path of its address", () => {
    const coordinators = coordinatorsOf(composeFile());
    const upstreams = coordinators.map(([name]) => `${name}:8080`).join(" ");
    expect(caddyfile).toContain(`reverse_proxy ${upstreams} {`);
    for (const [name, { ATOLL_PEER_URL }] of coordinators) {
      const path = new URL(String(ATOLL_PEER_URL)).pathname;
      expect(caddyfile).toMatch(new RegExp(`handle_path ${path}/\\* \\{\\s+reverse_proxy ${name}:8080 \\{`));
    }
  });
});

describe("deploy/systemd", () => {
  const unit = fileAt("deploy/systemd/atoll@.service");
  const valuesOf = (text: string, key: string): string[] =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);

  it("atoll@.service has the same sandbox as atoll.service", () => {
    const block = /^NoNewPrivileges=[^]*?^UMask=.*$/m;
    expect(block.exec(unit)?.[0]).toBe(block.exec(fileAt("deploy/systemd/atoll.service"))?.[0]);
  });

  it("atoll@.service and cluster.env have known and compatible settings", () => {
    // systemd parses the file like a shell, and deploy/README.md sources it for other commands.
    const read = ["-c", 'set -a; . "$0"; env', join(ROOT, "deploy/systemd/cluster.env")];
    const shell = execFileSync("bash", read, { env: {}, encoding: "utf8" });
    const pairs = [...valuesOf(unit, "Environment"), ...shell.split("\n")];
    const env = Object.fromEntries(
      pairs.flatMap((pair) => {
        const [, name, value] = /^(ATOLL_\w+)=(.*)$/.exec(pair) ?? [];
        return name === undefined ? [] : [[name, String(value).replace("%H", "host").replace("%i", "8080")]];
      }),
    );
    expect(env).toMatchObject({ ATOLL_STORE: "postgres://atoll:PASSWORD@db.example:5432/atoll" });
    expect(env).toHaveProperty("ATOLL_PEER_URL", "http://host:8080");
    assertSettings({ ...env, ATOLL_CLUSTER_KEY: "0".repeat(64) });
  });

  it("atoll@.service serves on the port in its name", () => {
    expect(valuesOf(unit, "ExecStart")).toEqual([expect.stringMatching(/bin\/coordinator\.ts serve --port %i$/)]);
  });
});
