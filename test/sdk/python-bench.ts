import { createServer, type IncomingMessage, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import { signIn } from "../support/operator.ts";
import type { Fault } from "./faulty-proxy.ts";
import { failed, finished, output, SdkFixture, token } from "./sdk-fixture.ts";

const PIECES = ["Hello ", "from ", "afar: é→😀"];

/**
 * Server for the tests of the Python client. It has a proxy that tests script over HTTP, and an Island that a job's
 * prompt controls. `fail`: the job fails. `hold`: only the first piece is sent until `/finish`. Any other prompt: three
 * pieces are sent.
 */
export class PythonBench implements AsyncDisposable {
  readonly fixture: SdkFixture;
  readonly operatorToken: string;
  readonly #control: Server;
  readonly #held = new Map<string, Assign>();

  private constructor(fixture: SdkFixture, operatorToken: string) {
    this.fixture = fixture;
    this.operatorToken = operatorToken;
    fixture.island.handle((frame) => {
      if (frame.type === "assign") this.#play(frame);
    });
    this.#control = createServer((request, response) => {
      void this.#handle(request).then((result) => response.end(JSON.stringify(result)));
    });
  }

  static async open(): Promise<PythonBench> {
    const fixture = await SdkFixture.open();
    const bench = new PythonBench(fixture, await signIn(fixture.coordinator, "op@example.com", { isOperator: true }));
    bench.#control.listen(0, "127.0.0.1");
    await once(bench.#control, "listening");
    return bench;
  }

  /** Environment of the tests' process. */
  get env(): Readonly<Record<string, string>> {
    const { port } = this.#control.address() as AddressInfo;
    return {
      ATOLL_BASE_URL: this.fixture.proxy.url,
      ATOLL_API_KEY: this.fixture.apiKey,
      ATOLL_TEST_OPERATOR: this.operatorToken,
      ATOLL_TEST_CONTROL: `http://127.0.0.1:${port}`,
    };
  }

  #play(assign: Assign): void {
    const { jobId, attempt, input } = assign;
    const { island } = this.fixture;
    island.send({ type: "accepted", jobId, attempt }, { type: "started", jobId, attempt });
    const prompt = JSON.stringify(input);
    if (prompt.includes("fail")) {
      island.send(failed(assign, 1));
    } else if (prompt.includes("hold")) {
      this.#held.set(jobId, assign);
      island.send(output(assign, 1, token(PIECES[0] ?? "")));
    } else {
      island.send(output(assign, 1, ...PIECES.map(token)), finished(assign, 2));
    }
  }

  async #handle(request: IncomingMessage): Promise<unknown> {
    const { proxy, island } = this.fixture;
    if (request.url === "/seen") return proxy.seen;
    if (request.url === "/script") {
      proxy.script(...((await json(request)) as Fault[]));
      return {};
    }
    const { id } = (await json(request)) as { id: string };
    const assign = this.#held.get(id);
    if (assign === undefined) throw new Error(`No job ${id} is held`);
    island.send(output(assign, 2, ...PIECES.slice(1).map(token)), finished(assign, 3));
    return {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#control.close();
    this.#control.closeAllConnections();
    await this.fixture[Symbol.asyncDispose]();
  }
}
