import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../coordinator/store/open-store.ts";
import { makeAccount, makeJob, runJob, temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/http/http.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { PostgresServer } from "../support/servers/postgres-server.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const SECRETS = ["DB_PASSWORD", "NATS_TOKEN", "CLUSTER_KEY"] as const;

/**
 * Commands of docs/operate/cluster.md for growing from one machine to three, on the first machine and on each other
 * one.
 */
function readCommands(): [servers: string[], coordinators: string[]] {
  const [, section = ""] =
    /^## Grow to three machines\n([^]*?)^## /m.exec(
      readFileSync(join(ROOT, "docs", "operate", "cluster.md"), "utf8"),
    ) ?? [];
  const [servers = [], coordinators = []] = [...section.matchAll(/^```sh\n([^]*?)\n```/gm)].map(([, text = ""]) =>
    text.split("\n"),
  );
  return [servers, coordinators];
}

/** A shell command that runs until disposal. */
function start(script: string): AsyncDisposable & { readonly stderr: () => string } {
  // The command has its own process group, because `npm` starts programs that outlive it.
  const child = spawn("bash", ["-c", script], { cwd: ROOT, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "close");
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return {
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await ended;
    },
  };
}

const healthOf = (port: number): Promise<unknown> =>
  fetch(`http://127.0.0.1:${port}/api/v1/health`).then(
    (response) => response.json() as unknown,
    () => null,
  );

describe("the commands of docs/operate/cluster.md for growing from one machine to three", () => {
  it("are ten, and none exposes a secret to other users of the machine", () => {
    const [servers, coordinators] = readCommands();
    expect([servers.length, coordinators.length]).toEqual([6, 4]);
    const isShown = (line: string) => !/^(export|echo) /.test(line);
    for (const line of [...servers, ...coordinators].filter(isShown)) {
      expect(line.replace(/#.*/, "")).not.toMatch(/DB_PASSWORD|NATS_TOKEN|CLUSTER_KEY|\$/);
    }
  });

  it("move the data and start three connected coordinators", async () => {
    using folder = temporaryFolder();
    const store = await openStore(folder.file("data"), new ManualClock());
    await runJob(store, makeJob(await makeAccount(store)));
    await store.close();
    await using stack = new AsyncDisposableStack();
    const postgres = stack.use(await PostgresServer.start());
    await postgres.createDatabase("atoll");
    const ports = await Promise.all([1, 2, 3].map(freePort));
    const natsPort = await freePort();
    const [servers, coordinators] = readCommands();
    const secrets = SECRETS.map((name) => [name, randomBytes(32).toString("hex")] as const);
    /** Returns the command with the addresses and files of this test. */
    const here = (line: string | undefined): string => {
      const replacements = [
        ["10.0.0.9/atoll", `127.0.0.1:${postgres.port}/atoll`],
        ["10.0.0.9:4222", `127.0.0.1:${natsPort}`],
        ["port: 4222", `port: ${natsPort}`],
        ["sudo tee /etc/nats-server.conf", `tee ${folder.file("nats.conf")}`],
        ["sqlite:./atoll/data", `sqlite:${folder.file("data")}`],
      ] as const;
      const values = secrets.map(([name, value]) => [new RegExp(`(?<!_)\\b${name}(?!=)`, "g"), value] as const);
      return [...replacements, ...values].reduce((text, [from, to]) => text.replaceAll(from, to), line ?? "");
    };
    const run = (script: string) => spawnSync("bash", ["-c", script], { cwd: ROOT, encoding: "utf8" });

    expect(run(here(servers.find((line) => line.includes("nats-server.conf")))).status).toBe(0);
    stack.use(start(`exec nats-server -a 127.0.0.1 -c ${folder.file("nats.conf")}`));
    const [first, second, migrate, serve] = coordinators;
    const settings = `${here(first)}\n${here(second)}\n`;
    const moved = run(settings + here(migrate));
    expect(moved.stdout + moved.stderr).toMatch(/^Moved \d+ rows and the keys, and verified the rows/m);
    const started = ports.map((port) => {
      const command = here(serve).replace("http://10.0.0.1:8080", `http://127.0.0.1:${port} --port ${port}`);
      return stack.use(start(settings + command));
    });
    for (const [index, port] of ports.entries()) {
      const health = await until(
        () => healthOf(port),
        (status) => status !== null,
        `coordinator ${index + 1}`,
      );
      expect(health, started[index]?.stderr()).toMatchObject({ status: "ok", checks: { store: "ok", bus: "ok" } });
    }
    expect(run(`${settings}npm run coordinator -- ledger verify`).stdout).toContain("the ledger is balanced");
  });
});
