import { describe, expect, it } from "vitest";
import { finished, loadScripted, MEMORY, NEVER, RESULT, runScript } from "./host-world.ts";

const output = (...items: unknown[]) => ({ kind: "output", outputs: [{ run: 1, items }] });
const token = { type: "token", content: "a", count: 1 };

describe("HostedCargo with a correct host", () => {
  it("returns items and result", async () => {
    await using cargo = await loadScripted();
    const items: unknown[] = [];
    const progress = { type: "progress", step: 1, total: 2 };
    const word = { messages: [output(token, progress), finished(1)] };
    await expect(runScript(cargo, word, items)).resolves.toEqual(RESULT);
    expect(items).toEqual([token, progress]);
  });
});

describe("HostedCargo with an input above the message limit", () => {
  it("fails only that run", async () => {
    await using cargo = await loadScripted();
    const other = runScript(cargo, { messages: [] });
    const long = runScript(cargo, { messages: ["a".repeat(70_000_000)] });
    await expect(long).rejects.toMatchObject({
      code: "invalid_input",
      message: "The input exceeds the limit of 64 MiB",
    });
    await expect(runScript(cargo, { messages: [finished(1), finished(3)] })).resolves.toEqual(RESULT);
    await expect(other).resolves.toEqual(RESULT);
  });
});

describe("HostedCargo with a host that works without output", () => {
  it("reports progress to the active run and to runs that wait for a slot", async () => {
    await using cargo = await loadScripted();
    const notified: string[] = [];
    const run = (name: string, messages: unknown[]) =>
      cargo.run({ input: { messages }, resume: null }, () => {}, NEVER, { onWorking: () => notified.push(name) });
    const first = run("first", []);
    // The host sends this with the second run, when the third run already waits, because the host works on two runs at
    // the same time.
    const prompt = { kind: "prompt", run: 1, prompt: { total: 3, done: 3 } };
    const second = run("second", [{ kind: "working", run: 1 }, prompt, output(token), finished(2), finished(1)]);
    const third = run("third", [finished(3)]);
    await Promise.all([first, second, third]);
    expect(notified).toEqual(["first", "third", "first", "third", "third"]);
  });
});

describe("HostedCargo of a runtime that cannot resume", () => {
  it("refuses to resume a text, without a message to its host", async () => {
    await using cargo = await loadScripted();
    const resume = { text: "Once", tokens: 1 };
    const running = cargo.run({ input: { messages: [null] }, resume }, () => {}, NEVER);
    await expect(running).rejects.toMatchObject({ code: "cannot_resume", retryable: false });
    await expect(runScript(cargo, { messages: [finished(1)] })).resolves.toEqual(RESULT);
  });
});

describe("a host process that breaks the protocol", () => {
  const BROKEN: [string, unknown][] = [
    ["null", null],
    ["output of an unknown run", { kind: "output", outputs: [{ run: 99, items: [token] }] }],
    ["a number", 7],
    ["an unknown kind", { kind: "surprise" }],
    ["output without runs", { kind: "output" }],
    ["output whose runs are not a list", { kind: "output", outputs: { run: 1 } }],
    ["output whose run is null", { kind: "output", outputs: [null] }],
    ["output whose items are not a list", { kind: "output", outputs: [{ run: 1, items: 3 }] }],
    ["an item of an unknown type", output({ type: "poem" })],
    ["an item whose text is a number", output({ ...token, content: 3 })],
    ["an item with a negative count", output({ ...token, count: -1 })],
    ["the end of an unknown run", finished(99)],
    ["an end without memory", { ...finished(1), memory: null }],
    ["an end whose memory is a text", { ...finished(1), memory: { ...MEMORY, ramBytes: "much" } }],
    ["an end without a result", { ...finished(1), result: undefined }],
    ["a failure with an unknown code", { kind: "failed", run: 1, error: { code: "x", message: "", retryable: false } }],
    ["a failure without an error", { kind: "failed", run: 1 }],
    ["the stop of a run that was not aborted", { kind: "aborted", run: 1 }],
    ["a load that is over already", { kind: "loaded", memory: MEMORY, facts: {} }],
  ];

  it.each(BROKEN)("is killed for %s, and all its runs fail as retryable", async (_name, message) => {
    await using cargo = await loadScripted();
    const other = runScript(cargo, {});
    // The messages name run 1, which is the other run.
    const running = runScript(cargo, { messages: [message] });
    for (const run of [running, other]) {
      await expect(run).rejects.toMatchObject({
        code: "runtime_crashed",
        retryable: true,
        message: expect.stringContaining("was killed: it broke the protocol"),
      });
    }
    await cargo.gone;
  });

  it.each([
    ["a line that is not JSON", { raw: "{]\n" }],
    ["an endless message", { floodsChannel: true }],
  ])("is killed for %s", async (_name, word) => {
    await using cargo = await loadScripted();
    await expect(runScript(cargo, word)).rejects.toMatchObject({ code: "runtime_crashed", retryable: true });
    await cargo.gone;
  });

  it("is ignored after an invalid message", async () => {
    await using cargo = await loadScripted();
    await expect(runScript(cargo, { messages: [null, finished(1)] })).rejects.toMatchObject({
      code: "runtime_crashed",
    });
  });
});
