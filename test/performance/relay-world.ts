import { HttpConnection, requestBytes } from "../../bench/load/http-connection.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { INSPECTED, Inspector } from "../support/inspector.ts";
import { Network } from "../support/network/network.ts";
import { allocatedBytes } from "./allocated-bytes.ts";
import { difference, mainThreadIo, otherThreadsIo, type ThreadIo } from "./thread-io.ts";

/** Cost of a piece of work at the coordinator. */
export interface Cost {
  readonly main: ThreadIo;
  readonly others: ThreadIo;
  readonly allocatedBytes: number;
  readonly acks: number;
  readonly commits: number;
}

/** A typical token has about 5 bytes. */
const TEXT = " word";
/** The delay is longer than any test, so that output is stored with the end of its job. */
const STORED_AT_THE_END = ["--feed-delay-ms", "10000"];

/** A coordinator in a separate process, a scripted Island and a client, connected by real sockets. */
export class RelayWorld implements AsyncDisposable {
  readonly #network: Network;
  readonly #inspector: Inspector;
  readonly #island: FakeIsland;
  readonly #client: HttpConnection;
  readonly #request: Buffer;
  #received = "";
  #onText: (() => void) | undefined;
  #acks = 0;

  private constructor(network: Network, inspector: Inspector, island: FakeIsland, key: string) {
    this.#network = network;
    this.#inspector = inspector;
    this.#island = island;
    this.#client = new HttpConnection(network.url);
    const body = { model: "tiny-chat", messages: [{ role: "user", content: "Go" }], stream: true };
    this.#request = requestBytes(network.url, { method: "POST", path: "/chat/completions", key, body });
  }

  static async open(): Promise<RelayWorld> {
    const network = await Network.open(STORED_AT_THE_END, INSPECTED);
    const { key, islandToken } = network.createAccount("relay@example.com", 1_000_000);
    const island = await FakeIsland.join(network.url, islandToken);
    return new RelayWorld(network, await Inspector.open(network.coordinator), island, key);
  }

  async costOf(work: () => Promise<void>): Promise<Cost> {
    const pid = this.#network.coordinator.process.pid as number;
    const acks = this.#acks;
    const commits = await this.#commits();
    const io = { main: mainThreadIo(pid), others: otherThreadsIo(pid) };
    const bytes = await allocatedBytes(this.#inspector, async () => {
      await work();
      io.main = difference(mainThreadIo(pid), io.main);
      io.others = difference(otherThreadsIo(pid), io.others);
    });
    return { ...io, allocatedBytes: bytes, acks: this.#acks - acks, commits: (await this.#commits()) - commits };
  }

  /** Runs a chat to its durable end. The Island sends each token after the client has received the previous one. */
  async spacedChat(tokens: number): Promise<void> {
    const { jobId, response } = await this.#begin();
    for (let seq = 1; seq <= tokens; seq += 1) {
      const relayed = this.#nextText(TEXT);
      this.#island.send(token(jobId, seq));
      await relayed;
    }
    this.#island.send(finished(jobId, tokens));
    await this.#untilDurable(tokens, response);
  }

  /** Runs a chat whose tokens and end arrive in one packet. */
  async burstChat(tokens: number): Promise<void> {
    const { jobId, response } = await this.#begin();
    const output = Array.from({ length: tokens }, (_, index) => token(jobId, index + 1));
    this.#island.send(...output, finished(jobId, tokens));
    await this.#untilDurable(tokens, response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
    await this.#inspector[Symbol.asyncDispose]();
    await this.#island[Symbol.asyncDispose]();
    await this.#network[Symbol.asyncDispose]();
  }

  async #begin(): Promise<{ jobId: string; response: Promise<unknown> }> {
    const response = this.#client.request(this.#request, (text) => {
      this.#received += text;
      this.#onText?.();
    });
    const { jobId } = await this.#island.next("assign");
    this.#island.send({ type: "accepted", jobId, attempt: 1 }, { type: "started", jobId, attempt: 1 });
    return { jobId, response };
  }

  async #untilDurable(tokens: number, response: Promise<unknown>): Promise<void> {
    for (;;) {
      const ack = await this.#island.next("ack");
      this.#acks += 1;
      if (ack.seq === tokens + 1) break;
    }
    await response;
    const texts = this.#received.split(`"content":"${TEXT}"`).length - 1;
    if (texts !== tokens || !this.#received.includes("[DONE]")) throw new Error(`Streamed ${this.#received}`);
    this.#received = "";
  }

  async #commits(): Promise<number> {
    const metrics = await (await fetch(`${this.#network.url}/api/v1/metrics`)).text();
    return Number(/^atoll_storage_commits_total (\d+)$/m.exec(metrics)?.[1]);
  }

  #nextText(text: string): Promise<void> {
    const before = this.#received.length;
    return new Promise((resolve) => {
      this.#onText = () => {
        if (this.#received.includes(text, before)) resolve();
      };
    });
  }
}

const token = (jobId: string, seq: number): FromIsland => ({
  type: "output",
  jobId,
  attempt: 1,
  seq,
  items: [{ type: "token", content: TEXT, count: 1 }],
});

const finished = (jobId: string, tokens: number): FromIsland => ({
  type: "finished",
  jobId,
  attempt: 1,
  seq: tokens + 1,
  finishReason: "stop",
  usage: { promptTokens: 5, completionTokens: tokens },
  timings: { loadMs: 0, firstOutputMs: 0, runMs: 0 },
});
