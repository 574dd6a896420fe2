import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBus, type BusConnection } from "../../../coordinator/bus/open-bus.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Authority, type Certificate } from "../../support/servers/certificates.ts";
import { makeNatsAccount, makeNkey } from "../../support/servers/nats-account.ts";
import { NatsServer } from "../../support/servers/nats-server.ts";

const NOBODY = { user: null, password: null, token: null, credentialsFile: null, nkeyFile: null };
const PLAIN = { caFile: null, certFile: null, keyFile: null, isTls: false };
const log = { warn: () => undefined, info: () => undefined };

/**
 * Returns "in" if the server accepts the coordinator and messages pass. Otherwise returns the error message for the
 * operator, or the reason why the bus is down.
 */
async function tryAccess(server: NatsServer, place: Partial<BusConnection>): Promise<string> {
  const whole = { servers: [`localhost:${server.port}`], ...NOBODY, ...PLAIN, ...place };
  try {
    const bus = await openBus(whole, "test", { clock: new ManualClock(), log });
    const stop = bus.handle("ask", async () => "in");
    const answer = bus.downReason ?? (await bus.request("ask", null, 5_000));
    stop();
    await bus.close();
    return String(answer);
  } catch (error) {
    return (error as Error).message;
  }
}

describe("a connection to NATS", () => {
  let authority: Authority;
  let server: Certificate;
  beforeAll(async () => {
    authority = await Authority.make();
    server = await authority.sign("server", "DNS:localhost");
  });
  afterAll(() => authority[Symbol.asyncDispose]());
  const start = (config: string) => NatsServer.start(config);
  const tlsConfig = (more = "", { certFile, keyFile } = server): string =>
    `tls { cert_file: "${certFile}", key_file: "${keyFile}", ${more} }\n`;
  /** Writes a file with this text. */
  async function file(name: string, text: string): Promise<string> {
    const path = join(authority.directory, name);
    await writeFile(path, text);
    return path;
  }
  const REFUSED =
    "bus: NATS rejected this coordinator (Authorization Violation). Check the user and password, token, credentials, nkey or client certificate";
  const [user, password] = ["atoll", "p@ss"];

  it("uses TLS with a private authority, a user and a password, and reports each fault in one line", async () => {
    await using nats = await start(`${tlsConfig()}authorization { user: ${user}, password: "${password}" }`);
    const { caFile } = authority;
    expect(await tryAccess(nats, { caFile, user, password })).toBe("in");
    expect(await tryAccess(nats, { caFile, user, password: "wrong" })).toBe(REFUSED);
    expect(await tryAccess(nats, { isTls: true, user, password })).toMatch(
      /^bus: The certificate of the NATS server is not trusted \(unable to verify the first certificate.*\)\. Check nats_ca_file, and/,
    );
    await expect(tryAccess(nats, { caFile: "/none.pem" })).resolves.toMatch(/ENOENT.*none\.pem/);
  });

  it("rejects a server with another name, and a server without TLS if TLS is required", async () => {
    const { caFile } = authority;
    await using other = await start(tlsConfig("", await authority.sign("other", "DNS:elsewhere")));
    expect(await tryAccess(other, { caFile })).toMatch(/^bus: The certificate of the NATS server .*altnames/);
    await using plain = await start("");
    expect(await tryAccess(plain, { caFile })).toBe(
      "bus: The NATS server does not support TLS, which tls:// in bus, nats_ca_file or nats_cert_file require",
    );
  });

  it("uses a client certificate, which also names the user", async () => {
    const { caFile } = authority;
    const more = `ca_file: "${caFile}", verify_and_map: true`;
    await using nats = await start(`${tlsConfig(more)}authorization { users: [{ user: "atoll@example.org" }] }`);
    const own = await authority.sign("client", "email:atoll@example.org");
    expect(await tryAccess(nats, { caFile, ...own })).toBe("in");
    expect(await tryAccess(nats, { caFile, ...(await authority.sign("guest", "email:guest@example.org")) })).toBe(
      REFUSED,
    );
    expect(await tryAccess(nats, { caFile, ...own, keyFile: server.keyFile })).toMatch(
      /^bus: .*key values mismatch\. Check nats_cert_file, nats_key_file/,
    );
    await using strangers = await Authority.make();
    const stranger = await strangers.sign("client", "email:atoll@example.org");
    expect(await tryAccess(nats, { caFile, ...stranger })).toBe(
      "timeout; the server may require another client certificate",
    );
  });

  it("uses a token", async () => {
    await using nats = await start('authorization { token: "s3cret" }');
    expect(await tryAccess(nats, { token: "s3cret" })).toBe("in");
    expect(await tryAccess(nats, { token: "other" })).toBe(REFUSED);
    expect(await tryAccess(nats, {})).toBe(REFUSED);
  });

  it("uses an nkey", async () => {
    const [own, other] = [makeNkey(), makeNkey()];
    await using nats = await start(`authorization { users: [{ nkey: ${own.publicKey} }] }`);
    expect(await tryAccess(nats, { nkeyFile: await file("own.nk", `${own.seed}\n`) })).toBe("in");
    expect(await tryAccess(nats, { nkeyFile: await file("other.nk", other.seed) })).toBe(REFUSED);
    const wrong = await file("wrong.nk", "SUABC");
    expect(await tryAccess(nats, { nkeyFile: wrong })).toBe(`${wrong}: does not contain an nkey seed`);
  });

  it("uses the credentials file of an account", async () => {
    const { config, credentials } = makeNatsAccount();
    await using nats = await start(config);
    expect(await tryAccess(nats, { credentialsFile: await file("own.creds", credentials) })).toBe("in");
    const other = await file("other.creds", makeNatsAccount().credentials);
    expect(await tryAccess(nats, { credentialsFile: other })).toBe(REFUSED);
    const wrong = await file("wrong.creds", "nothing");
    expect(await tryAccess(nats, { credentialsFile: wrong })).toBe(`${wrong}: does not contain NATS credentials`);
  });
});
