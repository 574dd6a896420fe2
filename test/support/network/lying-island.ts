import { randomUUID } from "node:crypto";
import { runFrames } from "./attempt-frames.ts";
import { FakeIsland } from "./fake-island.ts";

/** The texts of Islands that do not run the model, as tokens. */
export const LIES: Readonly<Record<string, readonly string[]>> = {
  "one-character": ["x"],
  "canned-text": "I am happy to help you with this . Please ask me again later .".split(/(?= )/),
  "random-words": " reef sand blue of and the gull rope tide seven".split(/(?= )/),
};
const RETRY_MS = 50;

/** An Island that gives all chats the same answer. When its connection ends, it joins the next coordinator. */
export class LyingIsland implements AsyncDisposable {
  /** Number of chats that it answered. */
  answered = 0;
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly #tokens: readonly string[];
  readonly #hostId = randomUUID();
  #island: FakeIsland | null = null;
  #dials = 0;
  #isOver = false;

  private constructor(urls: readonly string[], token: string, tokens: readonly string[]) {
    this.#urls = urls;
    this.#token = token;
    this.#tokens = tokens;
  }

  /** Resolves when the Island is connected. `urls` are addresses of coordinators in the order of dialing. */
  static async join(urls: readonly string[], token: string, tokens: readonly string[]): Promise<LyingIsland> {
    const liar = new LyingIsland(urls, token, tokens);
    await liar.#connect();
    return liar;
  }

  async #connect(): Promise<void> {
    const url = this.#urls[this.#dials++ % this.#urls.length] ?? "";
    const island = await FakeIsland.join(url, this.#token, { hostId: this.#hostId, slots: 1 });
    this.#island = island;
    island.handle((frame) => {
      if (frame.type !== "assign") return;
      this.answered += 1;
      island.send(...runFrames(frame, ...this.#tokens));
    });
    void island.closed.then(() => this.#reconnect());
  }

  async #reconnect(): Promise<void> {
    while (!this.#isOver) {
      try {
        return await this.#connect();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#island?.[Symbol.asyncDispose]();
  }
}
