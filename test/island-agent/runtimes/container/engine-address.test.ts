import { describe, expect, it } from "vitest";
import { describeAddress, engineAddresses } from "../../../../island-agent/runtimes/container/engine-address.ts";

const find = (environment: Record<string, string>, platform: NodeJS.Platform = "linux"): unknown =>
  engineAddresses({ environment, platform });

describe("engineAddresses()", () => {
  it("returns the default sockets of Docker and Podman", () => {
    const found = engineAddresses({
      environment: { HOME: "/home/me", XDG_RUNTIME_DIR: "/run/user/7" },
      platform: "linux",
    });
    expect(found.map(describeAddress)).toEqual([
      "/var/run/docker.sock",
      "/run/user/7/docker.sock",
      "/home/me/.docker/run/docker.sock",
      "/run/podman/podman.sock",
      "/run/user/7/podman/podman.sock",
      "/home/me/.local/share/containers/podman/machine/podman.sock",
    ]);
    expect(engineAddresses({ environment: {}, platform: "linux" })).toHaveLength(2);
  });

  it("returns named pipes on Windows", () => {
    expect(find({}, "win32")).toContainEqual({ kind: "socket", path: "//./pipe/docker_engine" });
  });

  it.each([
    ["unix:///run/my.sock", { kind: "socket", path: "/run/my.sock" }],
    ["npipe:////./pipe/other", { kind: "socket", path: "//./pipe/other" }],
    ["tcp://10.1.2.3:4000", { kind: "tcp", host: "10.1.2.3", port: 4_000, certificates: null }],
    ["10.1.2.3:80", { kind: "tcp", host: "10.1.2.3", port: 80, certificates: null }],
    ["tcp://engine", { kind: "tcp", host: "engine", port: 2_375, certificates: null }],
    ["tcp://[::1]:2375", { kind: "tcp", host: "::1", port: 2_375, certificates: null }],
    ["https://engine", { kind: "tcp", host: "engine", port: 2_376, certificates: "/home/me/.docker" }],
  ])("returns only DOCKER_HOST if it is set: %s", (host, address) => {
    expect(find({ DOCKER_HOST: host, HOME: "/home/me" })).toEqual([address]);
  });

  it("uses TLS, with the user's certificates, if requested", () => {
    const environment = { DOCKER_HOST: "tcp://engine:2376", DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/certs" };
    expect(find(environment)).toEqual([{ kind: "tcp", host: "engine", port: 2_376, certificates: "/certs" }]);
  });

  it("ignores an empty DOCKER_HOST", () => {
    expect(find({ DOCKER_HOST: "" })).toHaveLength(2);
  });

  it.each(["ssh://me@host", "unix://", "tcp://", "what ever"])("refuses DOCKER_HOST %s", (host) => {
    expect(() => find({ DOCKER_HOST: host })).toThrow(/^DOCKER_HOST must be/);
  });
});
