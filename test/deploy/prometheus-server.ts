import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile, copyFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { requireDebian } from "../support/servers/require-debian.ts";
import { PROMETHEUS_DIRECTORY } from "./queries.ts";

interface QueryResponse {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly { readonly metric: Readonly<Record<string, string>> }[] };
}

/** A Prometheus with `deploy/prometheus/` that scrapes one coordinator on this machine every second. */
export class PrometheusServer implements AsyncDisposable {
  readonly #url: string;
  readonly #child: ChildProcess;
  readonly directory: string;

  private constructor(url: string, child: ChildProcess, directory: string) {
    this.#url = url;
    this.#child = child;
    this.directory = directory;
  }

  static async start(coordinatorUrl: string, token: string): Promise<PrometheusServer> {
    requireDebian("prometheus", "prometheus");
    const directory = await mkdtemp(join(tmpdir(), "atoll-prometheus-"));
    const config = join(directory, "prometheus.yml");
    const text = await readFile(join(PROMETHEUS_DIRECTORY, "prometheus.yml"), "utf8");
    await writeFile(config, text.replaceAll("15s", "1s").replace("127.0.0.1:8080", new URL(coordinatorUrl).host));
    await writeFile(join(directory, "atoll-metrics-token"), token);
    await copyFile(join(PROMETHEUS_DIRECTORY, "alerts.yml"), join(directory, "alerts.yml"));
    const address = `127.0.0.1:${await freePort()}`;
    const data = join(directory, "data");
    const args = [`--config.file=${config}`, `--storage.tsdb.path=${data}`, `--web.listen-address=${address}`];
    const child = spawn("prometheus", args, { stdio: "ignore", cwd: directory });
    return new PrometheusServer(`http://${address}`, child, directory);
  }

  /** Returns the labels of each row, or undefined if the server is not ready. @throws for an invalid query. */
  async query(expr: string): Promise<readonly Readonly<Record<string, string>>[] | undefined> {
    const url = `${this.#url}/api/v1/query?query=${encodeURIComponent(expr)}`;
    const response = await fetch(url).catch(() => null);
    if (response === null || response.status === 503) return undefined;
    const { status, error, data } = (await response.json()) as QueryResponse;
    if (status !== "success") throw new Error(`${expr}: ${error}`);
    return (data?.result ?? []).map(({ metric }) => metric);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await ended;
    }
    await rm(this.directory, { recursive: true, force: true });
  }
}
