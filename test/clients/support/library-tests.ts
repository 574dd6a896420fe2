import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { call, until } from "../../support/http/http.ts";
import { ClientNetwork } from "./client-network.ts";
import { callOnce, DEFAULT_TEXT } from "./scripted-island.ts";

/** A wrong key must end a client within this time. */
const WRONG_KEY_MS = 3_000;
const TOOL = { name: "tide", description: "The tide at a place" } as const;
const TIDE = "low tide at the reef";
const COLORS = ["red", "blue"] as const;

/** Address, key and model for a library. Its other settings keep their defaults. */
export interface Target {
  /** Address without a path. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

export interface Completion {
  readonly text: string;
  /** Undefined if the library does not show it. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

export interface LibraryTool {
  readonly name: string;
  readonly description: string;
  /** Allowed values of its only argument, `place`. */
  readonly places: readonly [string, ...string[]];
  readonly run: (place: string) => string;
}

/** The calls of a library that the tests make. A call is absent if the library does not support it. */
export interface Library {
  readonly chat: (target: Target, prompt: string) => Promise<Completion>;
  /** Ends when `signal` aborts, unless `cannotAbort` is set. Calls `onText` for each piece. */
  readonly stream?: (target: Target, prompt: string, onText: () => void, signal?: AbortSignal) => Promise<Completion>;
  /** Runs the library's tool loop, and returns its last text. */
  readonly loop?: (target: Target, prompt: string, tool: LibraryTool) => Promise<string>;
  /** Returns an object whose only member `color` is one of `colors`. */
  readonly object?: (target: Target, prompt: string, colors: readonly [string, ...string[]]) => Promise<unknown>;
  /** Shape of the library's errors, for `toMatchObject`. */
  readonly errors: { readonly wrongKey: object; readonly unknownModel: object; readonly overContext: object };
  /** True if a stream cannot be stopped after it has started. */
  readonly cannotAbort?: boolean;
  /** Error of a request above the account's limit, for a library that does not retry. */
  readonly limitError?: object;
}

// All libraries of a test file share one network.
let net: ClientNetwork;
beforeAll(async () => {
  net = await ClientNetwork.open();
});
beforeEach(() => {
  net.recorder.clear();
  net.scripted.script(() => ({ text: DEFAULT_TEXT }));
});
afterAll(() => net[Symbol.asyncDispose]());

/** Runs the same tests for every library, with the titles of `FEATURES`. `more` adds tests of one library. */
export function testLibrary(title: string, library: Library, more?: (net: () => ClientNetwork) => void): void {
  describe(title, () => {
    const target = (model: string, key = net.key): Target => ({ url: net.url, key, model });
    const { chat, stream, loop, object, errors } = library;

    it("chat", async () => {
      expectText(await chat(target("tiny-chat"), "Count from 3 to 9."));
    });

    it.runIf(stream)("stream", async () => {
      let pieces = 0;
      const completion = await stream?.(target("tiny-chat"), "Count from 3 to 9.", () => (pieces += 1));
      expectText(completion);
      expect(pieces).toBeGreaterThan(3);
    });

    it.runIf(loop)("tool loop", async () => {
      net.scripted.script(callOnce(TOOL.name, { place: "reef" }, "It is low."));
      const places: string[] = [];
      const run = (place: string): string => {
        places.push(place);
        return TIDE;
      };
      const text = await loop?.(target("scripted"), "How is the tide?", { ...TOOL, places: ["reef", "bay"], run });
      expect([text, places]).toEqual(["It is low.", ["reef"]]);
      const results = net.scripted.inputs.at(-1)?.messages?.filter(({ role }) => role === "tool");
      expect(results).toEqual([expect.objectContaining({ content: expect.stringContaining(TIDE) })]);
    });

    it.runIf(object)("structured output", async () => {
      const found = await object?.(target("tiny-chat"), "Which color has the boat?", COLORS);
      expect(found).toEqual({ color: expect.toBeOneOf([...COLORS]) });
    });

    it.runIf(stream && !library.cannotAbort)("abort", async () => {
      net.scripted.script(() => ({ hold: "The tide comes and goes" }));
      const abort = new AbortController();
      const ended = stream?.(target("scripted"), "Tell me a story.", () => abort.abort(), abort.signal);
      // Libraries either throw or end the stream.
      await ended?.catch(() => undefined);
      expect(abort.signal.aborted).toBe(true);
      await net.latestJobIs("cancelled");
    });

    it("wrong key", async () => {
      const startedMs = performance.now();
      await expect(chat(target("tiny-chat", "ak_wrong"), "Hello")).rejects.toMatchObject(errors.wrongKey);
      expect(performance.now() - startedMs).toBeLessThan(WRONG_KEY_MS);
      expectOneRequest(401);
    });

    it("unknown model", async () => {
      await expect(chat(target("no-such-model"), "Hello")).rejects.toMatchObject(errors.unknownModel);
      expectOneRequest(404);
    });

    it("over the context", async () => {
      await expect(chat(target("tiny-chat"), "hello ".repeat(1_100))).rejects.toMatchObject(errors.overContext);
      expectOneRequest(400);
    });

    it("429", async () => {
      const { key } = net.createAccount(`${crypto.randomUUID()}@example.com`, { concurrentJobs: 1 });
      net.scripted.script(({ messages }) => {
        return messages?.at(-1)?.content === "hold" ? { hold: "Wait" } : { text: DEFAULT_TEXT };
      });
      const body = { model: "scripted", messages: [{ role: "user", content: "hold" }] };
      const held = call(net.network.url, key, "POST", "/chat/completions", body);
      await until(
        async () => net.scripted.inputs.length,
        (count) => count === 1,
        "the account's job runs",
      );
      const pending = expect(chat(target("scripted", key), "Hello"));
      const result = library.limitError
        ? pending.rejects.toMatchObject(library.limitError)
        : pending.resolves.toMatchObject({ text: DEFAULT_TEXT });
      const isLimited = async () => net.recorder.requests.some(({ status }) => status === 429);
      await Promise.all([result, until(isLimited, Boolean, "the client gets 429").then(() => net.scripted.release())]);
      await held;
    });

    more?.(() => net);
  });
}

function expectText(completion: Completion | undefined): void {
  expect(completion?.text).not.toBe("");
  const { inputTokens = 1, outputTokens = 1 } = completion ?? {};
  expect([inputTokens > 0, outputTokens > 0]).toEqual([true, true]);
}

/** Checks that a request that cannot succeed is sent once. */
function expectOneRequest(status: number): void {
  expect(net.recorder.modelRequests.map((request) => request.status)).toEqual([status]);
}
