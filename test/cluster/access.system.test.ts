import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Authority } from "../support/servers/certificates.ts";
import { freePort } from "../support/free-port.ts";
import { NatsServer } from "../support/servers/nats-server.ts";
import { PostgresServer } from "../support/servers/postgres-server.ts";
import { Program, type ProgramResult } from "../support/program.ts";
import { smallCatalog } from "../support/small-catalog.ts";

const [PASSWORD, NATS_PASSWORD] = ["p%40 ss", "n@ts"];
const KEY = { ATOLL_CLUSTER_KEY: "ab".repeat(32) };

describe("access to PostgreSQL and NATS over TLS", () => {
  const opened = new AsyncDisposableStack();
  let authority: Authority;
  let postgres: PostgresServer;
  let nats: NatsServer;
  beforeAll(async () => {
    authority = opened.use(await Authority.make());
    const certificate = await authority.sign("server", "DNS:localhost");
    const { certFile, keyFile } = certificate;
    const config = `tls { cert_file: "${certFile}", key_file: "${keyFile}" }
      authorization { user: atoll, password: "${NATS_PASSWORD}" }`;
    postgres = opened.use(await PostgresServer.start({ secured: { certificate, password: PASSWORD } }));
    nats = opened.use(await NatsServer.start(config));
    await postgres.createDatabase("atoll");
  });
  afterAll(() => opened.disposeAsync());

  const storeOf = (host = "localhost", caFile = authority.caFile): string =>
    `postgres://atoll@${host}:${postgres.port}/atoll?sslmode=verify-full&sslrootcert=${caFile}`;
  async function serve(store: string, env: Record<string, string>): Promise<Program> {
    const port = ["--port", String(await freePort()), "--log-level", "warn"];
    const shared = ["--store", store, "--bus", `tls://localhost:${nats.port}`, "--nats-ca-file", authority.caFile];
    const all = { ...KEY, ATOLL_NATS_USER: "atoll", ATOLL_NATS_PASSWORD: NATS_PASSWORD, ...env };
    return new Program("coordinator", ["serve", ...port, ...shared, "--catalog-directory", smallCatalog()], all);
  }
  async function refusalOf(
    store: string,
    env: Record<string, string>,
  ): Promise<Pick<ProgramResult, "code" | "stderr">> {
    await using program = await serve(store, env);
    const { code, stderr } = await program.ended();
    return { code, stderr };
  }

  it("starts a coordinator with passwords from the environment or from PostgreSQL's password file", async () => {
    const passFile = join(authority.directory, "pgpass");
    await writeFile(passFile, `localhost:*:atoll:atoll:${PASSWORD}\n`);
    await chmod(passFile, 0o600);
    for (const env of [{ PGPASSWORD: PASSWORD }, { PGPASSFILE: passFile }]) {
      await using program = await serve(storeOf(), env);
      const [, url] = await program.printed(/listening on (\S+)/);
      const health = await (await fetch(`${url}/api/v1/health`)).json();
      expect(health).toMatchObject({ status: "ok", checks: { bus: "ok" } });
    }
  });

  it("stops a coordinator that has a wrong password or certificate, with a one-line error", async () => {
    const where = `postgres://atoll@localhost:${postgres.port}/atoll`;
    await using strangers = await Authority.make();
    const env = { PGPASSWORD: PASSWORD };
    expect(await refusalOf(storeOf(), { PGPASSWORD: "wrong" })).toEqual({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^${where}\\S+: password authentication failed for user "atoll"\n$`)),
    });
    expect(await refusalOf(storeOf("localhost", strangers.caFile), env)).toEqual({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^${where}\\S+: .*certificate.*\n$`)),
    });
    expect(await refusalOf(storeOf("127.0.0.1"), env)).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^postgres:\/\/\S+: Hostname\/IP does not match certificate's altnames: .*\n$/),
    });
    expect(await refusalOf(storeOf(), { ...env, ATOLL_NATS_PASSWORD: "wrong" })).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^bus: NATS rejected this coordinator \(Authorization Violation\)\. .*\n$/),
    });
  });
});
