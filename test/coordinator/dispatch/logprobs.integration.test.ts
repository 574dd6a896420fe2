import { expect, it } from "vitest";
import type { TokenProbability } from "../../../shared/token-probability.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, finishedFrame } from "../../support/network/attempt-frames.ts";
import { api, client, coordinator, ended, join, openForEachTest, paid, submit } from "./paid-islands.ts";

openForEachTest();

const features = ["chat.logprobs"];
const told = (token: string, more: Partial<TokenProbability> = {}): TokenProbability => ({
  token,
  logprob: -0.25,
  top: [],
  ...more,
});

/** Returns the frames of an Island that answers "Hi". */
function frames(assign: Assign, logprobs?: readonly TokenProbability[]) {
  const { jobId, attempt } = assign;
  const item = { type: "token" as const, content: "Hi", count: 2, ...(logprobs && { logprobs: [...logprobs] }) };
  return [
    ...beginFrames(assign),
    { type: "output" as const, jobId, attempt, seq: 1, items: [item] },
    finishedFrame(assign, 2, { completionTokens: 2 }),
  ];
}

it("log probabilities reach the client of a chat, both streamed and not", async () => {
  await using island = await join({ features });
  const ask = (body: object) =>
    fetch(`${coordinator.url}/api/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${client.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        messages: [{ role: "user", content: "Hi" }],
        logprobs: true,
        top_logprobs: 1,
        ...body,
      }),
    });
  const half = { token: "\uFFFD", logprob: -3, bytes: [0xc3] };
  const logprobs = [told("H", { top: [half] }), told("i", { logprob: 0 })];
  const content = [
    { token: "H", logprob: -0.25, bytes: [72], top_logprobs: [half] },
    { token: "i", logprob: 0, bytes: [105], top_logprobs: [] },
  ];
  const whole = ask({});
  island.send(...frames(await island.next("assign"), logprobs));
  const { choices } = (await (await whole).json()) as { choices: unknown[] };
  expect(choices[0]).toMatchObject({ message: { content: "Hi" }, logprobs: { content, refusal: null } });
  const streamed = ask({ stream: true });
  island.send(...frames(await island.next("assign"), logprobs));
  const chunks = (await (await streamed).text()).split("\n\n").filter((line) => line.startsWith("data: {"));
  const parts = chunks.map((line) => JSON.parse(line.slice(6)).choices[0]);
  expect(parts.map(({ delta, logprobs: of }) => [delta.content ?? null, of])).toEqual([
    ["", null],
    ["Hi", { content, refusal: null }],
    [null, null],
  ]);
});

it("a chat with logprobs waits for an Island that supports them", async () => {
  await using _island = await join({ features: [] });
  const jobId = await submit({ prompt: "Hi", logprobs: true });
  const { body } = await api("GET", `/jobs/${jobId}`);
  expect(body.data.waiting.message).toContain("chat.logprobs");
});

it.each<[string, object, TokenProbability]>([
  ["that were not requested", {}, told("H")],
  ["of more other tokens than requested", { logprobs: true }, told("H", { top: [told("i")] })],
])("log probabilities %s count as a failure of the Island, and another one is asked", async (_, asked, logprob) => {
  await using liar = await join({ features });
  const jobId = await submit({ prompt: "Hi", ...asked });
  const lie = await liar.next("assign");
  await using honest = await join({ features });
  liar.send(...frames(lie, [logprob]).slice(0, -1));
  honest.send(...frames(await honest.next("assign"), "logprobs" in asked ? [told("Hi")] : undefined));
  expect(await ended(jobId)).toMatchObject({ status: "completed", output: "Hi", attempts: 2 });
});

it("an answer without the requested log probabilities is not paid", async () => {
  await using island = await join({ features });
  const jobId = await submit({ prompt: "Hi", logprobs: true });
  island.send(...frames(await island.next("assign")));
  expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "invalid_output" } });
  expect(await paid()).toBe(0);
});

it("reasoning from a Cargo without reasoning counts as a failure of the Island", async () => {
  await using liar = await join();
  const jobId = await submit({ prompt: "Hi" });
  const assign = await liar.next("assign");
  await using honest = await join();
  const items = [{ type: "reasoning" as const, content: "Hm", count: 1 }];
  liar.send(...beginFrames(assign), { type: "output", jobId, attempt: assign.attempt, seq: 1, items });
  honest.send(...frames(await honest.next("assign")));
  expect(await ended(jobId)).toMatchObject({ status: "completed", output: "Hi", attempts: 2 });
});

it.each([
  ["positive", told("H", { logprob: 0.1 })],
  ["not a number", told("H", { logprob: Number.NaN })],
  ["of a very long token", told("H".repeat(513))],
  ["of a number that is not a byte", told("H", { bytes: [256] })],
  ["with too many other tokens", told("H", { top: Array.from({ length: 21 }, () => told("i")) })],
])("a log probability that is %s ends the session", async (_, logprob) => {
  await using island = await join({ features });
  await submit({ prompt: "Hi", logprobs: true, top_logprobs: 20 });
  island.send(...frames(await island.next("assign"), [logprob]));
  expect((await island.closed).code).toBe(1008);
});
