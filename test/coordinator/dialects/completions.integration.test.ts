import { OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api, eventually } from "../http/api.ts";
import { completeWith, failWith, token } from "../http/scripted-chats.ts";
import { DONE } from "../http/scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const client = () => new OpenAI({ apiKey: api.key, baseURL: `${api.url}/api/v1`, maxRetries: 0 });
const complete = (body: object) =>
  api.call("POST", "/completions", { body: { model: "tiny", prompt: "Once", ...body } });

describe("POST /completions", () => {
  it("continues a text with a job without a chat template", async () => {
    completeWith(api, " upon", " a time");
    const { text, ...rest } = (await client().completions.create({ model: "tiny", prompt: "Once" })).choices[0] ?? {};
    expect([text, rest]).toEqual([" upon a time", { index: 0, logprobs: null, finish_reason: "stop" }]);
    expect(api.jobs.submitted[0]?.input).toEqual({ prompt: "Once", raw: true, max_tokens: 16 });
  });

  it("passes on the given parameters, and echoes the prompt", async () => {
    completeWith(api, "!");
    const sampling = { max_tokens: 3, temperature: 0, top_k: 5, stop: ["."], seed: 1 };
    const { body } = await complete({ ...sampling, echo: true, top_p: null, n: 1 });
    expect(body).toMatchObject({ object: "text_completion", model: "tiny", choices: [{ text: "Once!" }] });
    expect(api.jobs.submitted[0]?.input).toEqual({ prompt: "Once", raw: true, ...sampling });
  });

  it("returns a choice for each prompt, and the sum of their usage", async () => {
    completeWith(api, "x", "y");
    const { body } = await complete({ prompt: ["a", "b"], echo: true });
    expect(body.choices.map(({ index, text }: { index: number; text: string }) => [index, text])).toEqual([
      [0, "axy"],
      [1, "bxy"],
    ]);
    expect(body.usage).toEqual({ prompt_tokens: 6, completion_tokens: 4, total_tokens: 10, cost: 3 });
    expect(api.jobs.submitted).toHaveLength(2);
  });

  it("runs four prompts at once, and keeps their order whichever ends first", async () => {
    const open: (() => void)[] = [];
    api.jobs.onSubmit = (feed, job) => {
      open.push(() => {
        feed.push([token(`${String(job.input["prompt"])}!`)]);
        feed.end(DONE);
      });
    };
    const asked = complete({ prompt: ["a", "b", "c", "d", "e"] });
    await eventually(() => open.length === 4);
    for (const end of open.toReversed()) end();
    await eventually(() => open.length === 5);
    open[4]?.();
    const { choices } = (await asked).body;
    expect(choices.map(({ text }: { text: string }) => text)).toEqual(["a!", "b!", "c!", "d!", "e!"]);
  });

  it("streams text, and its usage if requested", async () => {
    completeWith(api, "Hel", "lo");
    const stream = await client().completions.create({
      model: "tiny",
      prompt: "Say: ",
      echo: true,
      stream: true,
      stream_options: { include_usage: true },
    });
    const [texts, reasons]: [string[], unknown[]] = [[], []];
    let total: number | undefined;
    for await (const { choices, usage } of stream) {
      if (choices[0] !== undefined) texts.push(choices[0].text);
      if (choices[0] !== undefined) reasons.push(choices[0].finish_reason);
      total = usage?.total_tokens ?? total;
    }
    expect([texts, reasons, total]).toEqual([["Say: ", "Hel", "lo", ""], [null, null, null, "stop"], 5]);
  });

  it("ends a failed stream with an error and without [DONE]", async () => {
    failWith(api, "runtime_crashed", "half");
    const { status, text } = await complete({ stream: true });
    expect([status, text.includes("[DONE]")]).toEqual([200, false]);
    expect(text).toContain('"error":{"message":"because"');
  });

  it.each([
    [{ prompt: [1, 2] }, "prompt"],
    [{ prompt: "" }, "prompt"],
    [{ prompt: Array.from({ length: 17 }, () => "a") }, "prompt"],
    [{ prompt: ["a", "b"], stream: true }, "stream"],
    [{ suffix: "end" }, "suffix"],
    [{ best_of: 2 }, "best_of"],
    [{ n: 2 }, "n"],
    [{ logprobs: 1 }, "logprobs"],
    [{ tools: [] }, "tools"],
  ])("names the refused %j", async (body, param) => {
    const answer = await complete(body);
    expect([answer.status, answer.body.error.param]).toEqual([422, param]);
    expect(api.jobs.submitted).toEqual([]);
  });

  it("returns 404 for a Cargo that does not chat", async () => {
    expect((await complete({ model: "words" })).body.error.code).toBe("model_not_found");
  });

  it("cancels the job when its client disconnects", async () => {
    const controller = new AbortController();
    const asked = client().completions.create({ model: "tiny", prompt: "a" }, { signal: controller.signal });
    await eventually(() => api.jobs.submitted.length === 1);
    controller.abort();
    await expect(asked).rejects.toThrow();
    await eventually(() => api.jobs.cancelled.length === 1);
  });
});
