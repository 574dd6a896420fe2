import { call, until } from "../../support/http/http.ts";
import { Network } from "../../support/network/network.ts";
import { makeCatalog } from "../../support/small-catalog.ts";

interface EndedJob {
  readonly status: string;
  readonly output: unknown;
  readonly error: unknown;
}

/** Processes of a coordinator with the small shipped Cargos and an Island without a GPU. */
export class TinyNetwork implements AsyncDisposable {
  readonly #network: Network;
  readonly #key: string;

  private constructor(network: Network, key: string) {
    this.#network = network;
    this.#key = key;
  }

  static async open(slugs: readonly string[]): Promise<TinyNetwork> {
    const network = await Network.open(["--catalog-directory", makeCatalog(["tiny-chat", ...slugs])]);
    const { key, islandToken } = network.createAccount("owner@example.com");
    await network.startIsland("one", islandToken, { "cargos.allow_runtimes": "onnx, diffusers" });
    return new TinyNetwork(network, key);
  }

  /** Runs a job, and returns its output. */
  async run(workload: string, input: object): Promise<unknown> {
    const submitted = await call(this.#network.url, this.#key, "POST", "/jobs", { workload, input });
    const read = async (): Promise<EndedJob> =>
      (await call(this.#network.url, this.#key, "GET", `/jobs/${submitted.body.data.id}?wait=20`)).body.data;
    const isOver = ({ status }: EndedJob): boolean => !["pending", "queued", "running"].includes(status);
    const { status, output, error } = await until(read, isOver, `the job of ${workload} ends`);
    if (status !== "completed") throw new Error(`${workload}: ${status}, ${JSON.stringify(error)}`);
    return output;
  }

  async post(path: string, body: object): Promise<{ status: number; body: unknown }> {
    return call(this.#network.url, this.#key, "POST", path, body);
  }

  async postForm(path: string, body: FormData): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#key}` };
    return fetch(`${this.#network.url}/api/v1${path}`, { method: "POST", headers, body });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#network[Symbol.asyncDispose]();
  }
}
