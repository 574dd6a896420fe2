import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/http/http.ts";
import { requireDebian } from "../support/servers/require-debian.ts";

const CADDYFILE = join(import.meta.dirname, "..", "..", "deploy", "Caddyfile");

/** A Caddy with `deploy/Caddyfile` in front of coordinators on this machine. */
export class Caddy implements AsyncDisposable {
  /** Address of the load balancer. */
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #directory: string;

  private constructor(url: string, child: ChildProcess, directory: string) {
    this.url = url;
    this.#child = child;
    this.#directory = directory;
  }

  /** @param ports ports of `coordinator-1`, `coordinator-2` and so on. */
  static async start(ports: readonly number[]): Promise<Caddy> {
    requireDebian("caddy", "caddy");
    const url = `http://127.0.0.1:${await freePort()}`;
    const directory = await mkdtemp(join(tmpdir(), "atoll-caddy-"));
    const text = (await readFile(CADDYFILE, "utf8")).replaceAll(
      /coordinator-(\d):8080/g,
      (_, number: string) => `127.0.0.1:${ports[Number(number) - 1]}`,
    );
    const child = spawn("caddy", ["run", "--config", "-", "--adapter", "caddyfile"], {
      env: { ...process.env, ATOLL_DOMAIN: url, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory },
      stdio: ["pipe", "ignore", "ignore"],
    });
    // The Caddy has no admin endpoint, because another Caddy on the machine may use its port.
    child.stdin?.end(`{\n\tadmin off\n}\n${text}`);
    const caddy = new Caddy(url, child, directory);
    const status = () =>
      fetch(`${url}/api/v1/health`).then(
        ({ status }) => status,
        () => null,
      );
    await until(status, (code) => code === 200, "Caddy");
    return caddy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await ended;
    }
    await rm(this.#directory, { recursive: true, force: true });
  }
}
