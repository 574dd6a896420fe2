import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ChatInput } from "../../../shared/chat-input.ts";
import { call } from "../../support/http/http.ts";
import { Cli, type CliOptions, type CliResult } from "./cli.ts";
import { ClientNetwork } from "./client-network.ts";
import type { RecordedRequest } from "./recorder.ts";
import { callOnce, DEFAULT_TEXT } from "./scripted-island.ts";

const QUESTION = "What is 7 plus 8?";
const NOTE = "The tide turns at a quarter past nine.";
const HOLD = "Hold the only slot.";
/** One more request than a client needs to compact its history and retry. */
const MAX_OVERFLOW_REQUESTS = 4;
/** Time for each attempt after the first 401. The client's own start and end depend on the load of the machine. */
const WRONG_KEY_MS = 3_000;
const STREAM = /"stream":(true|false)/;

export interface AgentRequest {
  /** Address without a path. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly prompt: string;
}

/** A coding agent that runs a prompt without a terminal. */
export interface Agent {
  /** `<Client> · <API>`. */
  readonly title: string;
  readonly start: (request: AgentRequest) => CliOptions;
  /** Ignored parameters of the client's default request, as the response header `Atoll-Ignored` names them. */
  readonly ignored?: string;
  /** A call of one of the client's tools that prints `note.txt` of the working directory. */
  readonly readNote: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
  /** What the client prints after a wrong key. */
  readonly wrongKey: RegExp;
  /** What the client prints after an unknown model. */
  readonly unknownModel: RegExp;
  /** What the client prints after a prompt above the context. */
  readonly tooLong: RegExp;
  /** The command for such a prompt, if the command of `start` prints nothing. */
  readonly overContext?: (request: AgentRequest) => CliOptions;
  /** How often the client sends a request that is rejected with this status. For other statuses it is once. */
  readonly attempts?: Readonly<Partial<Record<401 | 404, number>>>;
  /** Whether the client's instructions are so short that the demo model reads them within seconds. */
  readonly isSmall?: boolean;
  /** False if the client gives up at the first 429. */
  readonly waitsFor429?: boolean;
  /** The client's option for a JSON schema of the response. */
  readonly structured?: (request: AgentRequest, schema: object) => CliOptions;
}

const SUM_SCHEMA = {
  type: "object",
  properties: { sum: { type: "integer" } },
  required: ["sum"],
  additionalProperties: false,
} as const;

/** Every feature of a coding agent, by the titles of the table. */
export function testAgent(agent: Agent): void {
  describe(agent.title, () => {
    let net: ClientNetwork;
    beforeAll(async () => {
      net = await ClientNetwork.open();
    });
    beforeEach(() => {
      net.recorder.clear();
      net.scripted.script(() => ({ text: DEFAULT_TEXT }));
    });
    afterAll(() => net[Symbol.asyncDispose]());

    const request = (model: string, key = net.key): AgentRequest => ({ url: net.url, key, model, prompt: QUESTION });
    const start = (model: string, key?: string): CliOptions => {
      const options = agent.start(request(model, key));
      return { ...options, files: { ...options.files, "work/note.txt": NOTE } };
    };

    it("chat", async () => {
      const result = await Cli.run(start(agent.isSmall === true ? "tiny-long" : "scripted"));
      // The demo model does not understand such a prompt, so the test accepts any text.
      expect(result.stdout, result.stderr).toMatch(agent.isSmall === true ? /\S/ : DEFAULT_TEXT);
      expect(result.code).toBe(0);
      expect(statuses(net.recorder.modelRequests)).toEqual(net.recorder.modelRequests.map(() => 200));
      const ignored = net.recorder.modelRequests.map(({ responseHeaders }) => responseHeaders["atoll-ignored"]);
      // Some agents request a title as well.
      expect(ignored).toContain(agent.ignored);
    });

    it("streams a chat", async () => {
      net.scripted.script(() => ({ hold: "The first part. " }));
      await using cli = new Cli(start("scripted"));
      await net.latestJobIs("running");
      net.scripted.release();
      expect((await cli.ended()).stdout).toContain("The first part.");
      expect(net.recorder.modelRequests.some(({ body }) => JSON.parse(body).stream === true)).toBe(true);
    });

    it("tool loop", async () => {
      const { name, arguments: args } = agent.readNote;
      net.scripted.script(callOnce(name, args));
      const result = await Cli.run(start("scripted"));
      expect(net.scripted.inputs.map(toolResults).at(-1), result.stderr).toContain(NOTE);
      expect([result.stdout, result.code]).toEqual([expect.stringContaining(DEFAULT_TEXT), 0]);
    });

    const { structured } = agent;
    if (structured !== undefined) {
      it("structured output", async () => {
        net.scripted.script(({ tools }) => {
          const tool = tools?.find((one) => /structured_?output/i.test(one.function.name));
          if (tool === undefined) return { text: '{"sum":15}' };
          return { call: { name: tool.function.name, arguments: { sum: 15 } } };
        });
        const result = await Cli.run(structured(request("scripted"), SUM_SCHEMA));
        expect([result.stdout, result.code], result.stderr).toEqual([expect.stringMatching(/"sum":\s*15/), 0]);
      });
    }

    it("abort", async () => {
      net.scripted.script(() => ({ hold: "The first part. " }));
      await using cli = new Cli(start("scripted"));
      await net.latestJobIs("running");
      cli.interrupt();
      await cli.ended();
      await net.latestJobIs("cancelled");
    });

    it("wrong key", async () => {
      const result = await Cli.run(start("scripted", "ak_wrong"));
      expect(result.stdout + result.stderr).toMatch(agent.wrongKey);
      expectRefusal(result, net.recorder.modelRequests, 401, agent.attempts?.[401]);
      const attempts = agent.attempts?.[401] ?? 1;
      if (attempts === 1) return;
      const respondedMs = net.recorder.modelRequests.map((request) => request.respondedMs);
      const retriesMs = Math.max(...respondedMs) - Math.min(...respondedMs);
      expect(retriesMs).toBeLessThan(WRONG_KEY_MS * attempts);
    });

    it("unknown model", async () => {
      const result = await Cli.run(start("no-such-model"));
      expect(result.stdout + result.stderr).toMatch(agent.unknownModel);
      expectRefusal(result, net.recorder.modelRequests, 404, agent.attempts?.[404]);
    });

    it("over the context", async () => {
      const result = await Cli.run(agent.overContext?.(request("tiny-chat")) ?? start("tiny-chat"));
      expect(result.stdout + result.stderr).toMatch(agent.tooLong);
      expect(statuses(net.recorder.modelRequests)).toContain(400);
      expect(net.recorder.modelRequests.length).toBeLessThanOrEqual(MAX_OVERFLOW_REQUESTS);
      expect(mostAttempts(net.recorder.modelRequests)).toBe(1);
    });

    const itWaits = agent.waitsFor429 === false ? it.skip : it;
    itWaits("429", async () => {
      const { key } = net.createAccount("limited@example.com", { concurrentJobs: 1 });
      const isHold = ({ messages }: ChatInput): boolean => messages?.[0]?.content === HOLD;
      net.scripted.script((input) => (isHold(input) ? { hold: "Held." } : { text: DEFAULT_TEXT }));
      const body = { model: "scripted", messages: [{ role: "user", content: HOLD }] };
      const held = call(net.network.url, key, "POST", "/chat/completions", body);
      await net.latestJobIs("running", key);
      await using cli = new Cli(start("scripted", key));
      await expect.poll(() => statuses(net.recorder.modelRequests)).toContain(429);
      net.scripted.release();
      await held;
      const result = await cli.ended();
      expect([result.stdout, result.code], result.stderr).toEqual([expect.stringContaining(DEFAULT_TEXT), 0]);
    });
  });
}

/** Checks that the client shows a failure, and does not retry a request that cannot succeed. */
function expectRefusal({ code }: CliResult, requests: readonly RecordedRequest[], status: number, attempts = 1): void {
  expect([...new Set(statuses(requests))]).toEqual([status]);
  expect(mostAttempts(requests)).toBe(attempts);
  expect(code).not.toBe(0);
}

/** Returns how often the most repeated request was sent, streamed or not. */
function mostAttempts(requests: readonly RecordedRequest[]): number {
  const counts = new Map<number, number>();
  // A repeated request contains other ids, but of the same length.
  for (const { body } of requests) {
    const { length } = body.replace(STREAM, "");
    counts.set(length, (counts.get(length) ?? 0) + 1);
  }
  return Math.max(...counts.values());
}

const statuses = (requests: readonly RecordedRequest[]): (number | null)[] => requests.map(({ status }) => status);

function toolResults({ messages = [] }: ChatInput): string {
  return messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => JSON.stringify(content))
    .join("\n");
}
