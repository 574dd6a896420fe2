import { expect, it } from "vitest";
import { beginFrames, finishedFrame, runFrames } from "../../support/network/attempt-frames.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { call } from "../../support/http/http.ts";
import { client, coordinator, ended, join, openForEachTest, paid, submit } from "./paid-islands.ts";

openForEachTest();

const FEATURES = ["chat.schema2"];
const formatOf = (schema: object) => ({ type: "json_schema", json_schema: { name: "answer", schema } });
const EVEN = formatOf({ type: "object", properties: { a: { type: "string", pattern: "^(?=b)" } }, required: ["a"] });

it("an answer that its schema excludes ends in an error with the reason, and its output is charged", async () => {
  await using island = await join({ features: FEATURES });
  const jobId = await submit({ prompt: "x", response_format: EVEN });
  const assign = await island.next("assign");
  island.send(...runFrames(assign, '{"a":"c"}'));
  const error = {
    code: "schema_unmet",
    message: expect.stringContaining('/a must match pattern "^(?=b)"'),
    retryable: true,
  };
  expect(await ended(jobId)).toMatchObject({ status: "failed", error, attempts: 1 });
  expect(await paid()).toBeGreaterThan(0);
});

it("a chat over HTTP gets the reason for an answer that violates the schema, and an answer that matches it", async () => {
  await using island = await join({ features: FEATURES });
  const chat = () =>
    call(coordinator.url, client.key, "POST", "/chat/completions", {
      messages: [{ role: "user", content: "x" }],
      response_format: EVEN,
    });
  const refused = chat();
  island.send(...runFrames(await island.next("assign"), '{"a":"c"}'));
  expect(await refused).toMatchObject({
    status: 500,
    body: { error: { code: "job_failed", job_error: "schema_unmet" } },
  });
  const answered = chat();
  island.send(...runFrames(await island.next("assign"), '{"a":"b"}'));
  expect(await answered).toMatchObject({ status: 200, body: { choices: [{ message: { content: '{"a":"b"}' } }] } });
});

it.each([
  [
    true,
    '{"a":"c"}',
    { status: "failed", error: { code: "schema_unmet", message: expect.stringMatching(/"sum": \/a must match/) } },
  ],
  [true, '{"a":"b"}', { status: "completed" }],
  [false, '{"a":"c"}', { status: "completed" }],
])("the arguments of a tool with strict %j are %j: %j", async (strict, given, expected) => {
  await using island = await join({ features: ["chat.tools"] });
  const tool = { type: "function", function: { name: "sum", strict, parameters: EVEN.json_schema.schema } };
  const jobId = await submit({ prompt: "x", tools: [tool], tool_choice: "required" });
  const assign = await island.next("assign");
  const items = [{ type: "tool_call" as const, index: 0, id: "call_1", name: "sum", arguments: given, count: 9 }];
  island.send(...beginFrames(assign), { type: "output", jobId, attempt: assign.attempt, seq: 1, items }, {
    ...finishedFrame(assign, 2, { completionTokens: 9 }),
    finishReason: "tool_calls",
  } as FromIsland);
  expect(await ended(jobId)).toMatchObject(expected);
});

it("a job whose schema sets bounds waits for an Island whose agent enforces them, and other jobs run on any Island", async () => {
  await using old = await join();
  const bounded = await submit({ prompt: "x", response_format: formatOf({ type: "integer", minimum: 3 }) });
  const plain = await submit({ prompt: "x", response_format: formatOf({ type: "integer" }) });
  expect((await old.next("assign")).jobId).toBe(plain);
  await using fresh = await join({ features: FEATURES });
  expect((await fresh.next("assign")).jobId).toBe(bounded);
});

it("an invalid schema is refused with its path", async () => {
  const body = {
    messages: [{ role: "user", content: "x" }],
    response_format: formatOf({ type: "object", required: "a" }),
  };
  const { status, body: answer } = await call(coordinator.url, client.key, "POST", "/chat/completions", body);
  expect([status, answer.error.message]).toEqual([422, expect.stringContaining("/required must be array")]);
  expect(answer.error.param).toContain("response_format.json_schema.schema");
});

it("an answer nested deeper than the checks allow counts as a failure of its Island, regardless of the schema", async () => {
  const list = { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false };
  const mood = { type: "object", properties: { mood: { enum: ["good", "bad"] } }, required: ["mood"] };
  const deep = [
    `{"mood":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
    `${'{"next":'.repeat(5_000)}{}${"}".repeat(5_000)}`,
  ];
  for (const [index, schema] of [mood, list].entries()) {
    await using liar = await join({ features: FEATURES });
    const jobId = await submit({ prompt: "x", response_format: formatOf(schema) });
    liar.send(...runFrames(await liar.next("assign"), deep[index] as string));
    expect(await ended(jobId)).toMatchObject({ status: "failed", error: { code: "invalid_output" } });
    expect(await paid()).toBe(0);
  }
});

it("a chat with several answers is charged for those before a failed one", async () => {
  await using island = await join({ features: FEATURES });
  const body = { messages: [{ role: "user", content: "x" }], response_format: EVEN, n: 2 };
  const asked = call(coordinator.url, client.key, "POST", "/chat/completions", body);
  const first = await island.next("assign");
  island.send(...runFrames(first, '{"a":"b"}'));
  const second = await island.next("assign");
  island.send(...runFrames(second, '{"a":"c"}'));
  expect(await asked).toMatchObject({ status: 500, body: { error: { job_error: "schema_unmet" } } });
  const usedBy = async ({ jobId }: { jobId: string }) => (await ended(jobId)).usage.credits_used as number;
  const used = [await usedBy(first), await usedBy(second)];
  for (const credits of used) expect(credits).toBeGreaterThan(0);
  expect(await paid()).toBeCloseTo(used.reduce((sum, each) => sum + each));
});
