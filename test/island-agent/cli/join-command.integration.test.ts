import { mkdir, readdir, readFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configCommand } from "../../../island-agent/cli/config-command.ts";
import { joinNetwork, plainHttpWarning } from "../../../island-agent/cli/join-command.ts";
import { readLastEnd, storeLastEnd } from "../../../island-agent/control/last-end.ts";
import { fingerprintOf } from "../../../shared/cargo-signature.ts";
import { ISLAND_TOKEN } from "../builders.ts";
import { ScriptedCoordinator } from "../scripted-coordinator.ts";
import { dataDirectory, messageOf, useDataDirectory } from "./command-world.ts";

const OTHER_KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

useDataDirectory();

describe("joinNetwork()", () => {
  let coordinator: ScriptedCoordinator;
  beforeEach(async () => {
    coordinator = await ScriptedCoordinator.open();
  });
  afterEach(() => coordinator[Symbol.asyncDispose]());

  const join_ = (url: string, token = ISLAND_TOKEN): Promise<string> =>
    joinNetwork({ urls: [url], credential: { token }, dataDirectory });
  const tokensShown = (): string[] => coordinator.requests.flatMap(({ authorization }) => authorization ?? []);

  it("stores an accepted address with its path, and the token", async () => {
    await join_(`${coordinator.url}/prefix`);
    const path = "/prefix/api/v1/island/session";
    // The first request asks for the key.
    expect(coordinator.requests).toEqual([
      { path, authorization: undefined },
      { path, authorization: `Bearer ${ISLAND_TOKEN}` },
    ]);
    expect(await configCommand.get(dataDirectory, {}, "coordinator.api_url")).toBe(`${coordinator.url}/prefix`);
    expect(await readFile(join(dataDirectory, "config.toml"), "utf8")).toContain(ISLAND_TOKEN);
  });

  it.each(["/api/v1", "/api/v1/", "/v1", "/prefix/api/v1", "//"])(
    "finds the coordinator from an address of its API …%s",
    async (path) => {
      await join_(`${coordinator.url}${path}`);
      const base = path.startsWith("/prefix") ? "/prefix" : "";
      expect(coordinator.requests.map((request) => request.path)).toEqual([
        `${base}/api/v1/island/session`,
        `${base}/api/v1/island/session`,
      ]);
      expect(await configCommand.get(dataDirectory, {}, "coordinator.api_url")).toBe(`${coordinator.url}${base}`);
    },
  );

  it("pins the token's account, and removes it if the coordinator does not send one", async () => {
    await join_(coordinator.url);
    expect(await configCommand.get(dataDirectory, {}, "coordinator.account")).toBe("user_1");
    coordinator.account = null;
    await join_(coordinator.url);
    expect(await configCommand.get(dataDirectory, {}, "coordinator.account")).toBe("");
  });

  it("pins the coordinator's key, and returns its fingerprint", async () => {
    expect(await join_(coordinator.url)).toBe(fingerprintOf(coordinator.publicKey));
    expect(await configCommand.get(dataDirectory, {}, "coordinator.public_key")).toBe(coordinator.publicKey);
    expect(await join_(coordinator.url)).toBe(fingerprintOf(coordinator.publicKey));
  });

  it("deletes the reason why the previous agent stopped, because the join may have fixed it", async () => {
    await mkdir(dataDirectory, { recursive: true });
    await storeLastEnd(dataDirectory, { reason: "the coordinator's key has changed", atMs: 0 });
    await join_(coordinator.url);
    expect(await readLastEnd(dataDirectory)).toBeNull();
  });

  it("accepts only a key with the given fingerprint", async () => {
    const join = (fingerprint: string): Promise<string> =>
      joinNetwork({ urls: [coordinator.url], credential: { token: ISLAND_TOKEN }, dataDirectory, fingerprint });
    const shown = fingerprintOf(coordinator.publicKey);
    expect(await messageOf(join("SHA256:x"))).toBe(
      `Not joined: the fingerprint of the coordinator's key must be SHA256:x, got ${shown}. Check the URL, and ask the operator for the fingerprint`,
    );
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
    expect(tokensShown()).toEqual([]);
    expect(await join(shown)).toBe(shown);
  });

  it.each(["", "/prefix"])("accepts a changed key only with its fingerprint, at …%s", async (path) => {
    await join_(`${coordinator.url}/`);
    coordinator.shownKey = OTHER_KEY;
    coordinator.requests.length = 0;
    expect(await messageOf(join_(`${coordinator.url}${path}`))).toMatch(
      /^Not joined: the coordinator's key has changed: .*join again with --fingerprint\. To join a different coordinator, add --new-coordinator/,
    );
    expect(tokensShown()).toEqual([]);
    expect(await configCommand.get(dataDirectory, {}, "coordinator.public_key")).toBe(coordinator.publicKey);
    const fingerprint = fingerprintOf(OTHER_KEY);
    await joinNetwork({ urls: [coordinator.url], credential: { token: ISLAND_TOKEN }, dataDirectory, fingerprint });
    expect(await configCommand.get(dataDirectory, {}, "coordinator.public_key")).toBe(OTHER_KEY);
  });

  it("accepts and pins the key of another coordinator with isNewCoordinator", async () => {
    await join_(coordinator.url);
    await using second = await ScriptedCoordinator.open();
    second.shownKey = OTHER_KEY;
    const shown = await joinNetwork({
      urls: [second.url],
      credential: { token: ISLAND_TOKEN },
      dataDirectory,
      isNewCoordinator: true,
    });
    expect(shown).toBe(fingerprintOf(OTHER_KEY));
    expect(await configCommand.get(dataDirectory, {}, "coordinator.public_key")).toBe(OTHER_KEY);
  });

  it("stores all addresses of a network, after each has accepted the token", async () => {
    await using second = await ScriptedCoordinator.open();
    const urls = [coordinator.url, second.url];
    await joinNetwork({ urls, credential: { token: ISLAND_TOKEN }, dataDirectory });
    expect(await configCommand.get(dataDirectory, {}, "coordinator.api_url")).toBe(urls.join(","));
    second.refusals.push(401);
    expect(await messageOf(joinNetwork({ urls, credential: { token: ISLAND_TOKEN }, dataDirectory }))).toBe(
      `Not joined: ${second.url}: the coordinator rejected the token`,
    );
  });

  it("does not send the token to an address with another key than the first", async () => {
    await using second = await ScriptedCoordinator.open();
    second.shownKey = OTHER_KEY;
    const join = joinNetwork({
      urls: [coordinator.url, second.url],
      credential: { token: ISLAND_TOKEN },
      dataDirectory,
    });
    expect(await messageOf(join)).toBe(
      `Not joined: ${second.url}: this coordinator has a different key, so it belongs to another network. Give only URLs of one network`,
    );
    expect(second.requests.map(({ authorization }) => authorization)).toEqual([undefined]);
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
  });

  it("stores nothing if the key changes during the join", async () => {
    Object.defineProperty(coordinator, "shownKey", {
      get: () => (coordinator.requests.length === 1 ? coordinator.publicKey : OTHER_KEY),
    });
    expect(await messageOf(join_(coordinator.url))).toBe(
      "Not joined: the coordinator changed its key during the join. Try again",
    );
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
  });

  it("does not send the token to an address that is not a coordinator's", async () => {
    const authorizations: (string | undefined)[] = [];
    const other = createHttpServer((_request, response) => response.writeHead(404).end());
    other.on("upgrade", ({ headers }, socket) => {
      authorizations.push(headers.authorization);
      socket.end("HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    expect(await messageOf(join_(`http://127.0.0.1:${port}`))).toBe(
      "Not joined: the URL responded with status 404. Check that it is the URL of a coordinator",
    );
    expect(authorizations).toEqual([undefined]);
    await new Promise((resolve) => other.close(resolve));
  });

  it.each([null, "abc"])("refuses a coordinator with the key %j", async (shown) => {
    coordinator.shownKey = shown;
    expect(await messageOf(join_(coordinator.url))).toBe(
      "Not joined: the coordinator sent no public key for its Cargos",
    );
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
  });

  it.each(["efgh", "ftp://host.example", "http://", "http://a,http://b", "a b.c", ""])(
    "refuses the invalid address %j",
    async (url) => {
      expect(await messageOf(join_(url))).toBe(
        `URL of the coordinator: must begin with http:// or https://, got "${url}"`,
      );
    },
  );

  it.each([
    ["host.example", "https://host.example"],
    ["host.example/api/v1/", "https://host.example"],
    ["localhost:8080", "http://localhost:8080"],
    ["127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["[::1]:8080", "http://[::1]:8080"],
    ["attic:8080", "https://attic:8080"],
  ])("refuses %s without a scheme, and suggests %s", async (url, meant) => {
    expect(await messageOf(join_(url))).toBe(
      `URL of the coordinator: must begin with http:// or https://, got "${url}". Did you mean ${meant}?`,
    );
  });

  it("refuses a user name and a password in the address, without showing them", async () => {
    expect(await messageOf(join_("https://ann:secret@host.example"))).toMatch(
      /^URL of the coordinator: must not contain a user name/,
    );
  });

  it("suggests the target of a redirect, the address without a path, or an IP address", async () => {
    const other = createHttpServer((_request, response) => response.writeHead(404).end());
    other.on("upgrade", ({ url }, socket) => {
      const refused = url?.startsWith("/page") ? 404 : url?.startsWith("/name") ? 421 : null;
      const [status, location] = refused === null ? [301, "Location: https://atoll.example/x\r\n"] : [refused, ""];
      socket.end(`HTTP/1.1 ${status} No\r\n${location}Connection: close\r\nContent-Length: 0\r\n\r\n`);
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    expect(await messageOf(join_(`${address}?a=b#c`))).toBe(
      "Not joined: the URL redirects to another one. Join with https://atoll.example",
    );
    expect(await messageOf(join_(`${address}/page`))).toBe(
      `Not joined: the URL responded with status 404. Check that it is the URL of a coordinator (try it without the path: ${address})`,
    );
    expect(await messageOf(join_(`${address}/name`))).toMatch(
      /^Not joined: the coordinator does not answer to this host name. Join with its IP address, or ask its operator to set public_url/,
    );
    await new Promise((resolve) => other.close(resolve));
  });

  it.each(["", "it_", "ak_".padEnd(43, "a"), `${ISLAND_TOKEN}a`, `${ISLAND_TOKEN}\n`])(
    "refuses the invalid Island token %j without sending it",
    async (token) => {
      expect(await messageOf(join_(coordinator.url, token))).toBe(
        "Invalid Island token: must be it_ and 40 letters and digits. Copy it again, or create a new one",
      );
      expect(coordinator.requests).toEqual([]);
    },
  );

  it.each(["", "correct horse battery", "ak_".padEnd(43, "a"), "ABCD-EFG"])(
    "refuses the invalid pairing code %j without sending it",
    async (code) => {
      const join = joinNetwork({ urls: [coordinator.url], credential: { code }, dataDirectory });
      expect(await messageOf(join)).toBe("Invalid input: must be a pairing code (ABCD-EFGH) or an Island token (it_…)");
      expect(coordinator.requests).toEqual([]);
    },
  );

  it.each([
    [401, "Not joined: the coordinator rejected the token"],
    [404, "Not joined: the URL responded with status 404. Check that it is the URL of a coordinator"],
  ])("reports status %i, and stores nothing", async (status, message) => {
    coordinator.refusals.push(status);
    expect(await messageOf(join_(coordinator.url))).toBe(message);
    await expect(readdir(dataDirectory)).rejects.toThrow("ENOENT");
  });

  it("reports that nothing listens", async () => {
    await coordinator.vanish();
    expect(await messageOf(join_(coordinator.url))).toMatch(
      /^Not joined: cannot reach the coordinator: .*ECONNREFUSED/,
    );
  });

  it("reports a server that does not speak HTTP", async () => {
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
  ])("is returned for %s: %s", (url, isReturned) => {
    const warning = plainHttpWarning(url);
    expect(warning !== null).toBe(isReturned);
    if (isReturned) expect(warning).toContain(`${url} is not encrypted`);
  });
});
