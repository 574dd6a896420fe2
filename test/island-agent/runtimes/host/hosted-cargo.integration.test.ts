import { describe, expect, it } from "vitest";
import { finished, loadScripted, MEMORY, NEVER, RESULT, tell } from "./host-world.ts";

const output = (...items: unknown[]) => ({ kind: "output", outputs: [{ run: 1, items }] });
const token = { type: "token", content: "a", count: 1 };

describe("a host process that keeps to the protocol", () => {
  it("gives its items and its result", async () => {
    await using cargo = await loadScripted();
    const items: unknown[] = [];
    const progress = { type: "progress", step: 1, total: 2 };
    const word = { messages: [output(token, progress), finished(1)] };
    await expect(tell(cargo, word, items)).resolves.toEqual(RESULT);
    expect(items).toEqual([token, progress]);
  });
});

describe("a run whose input is longer than a message to its host", () => {
  it("fails alone", async () => {
    await using cargo = await loadScripted();
    const other = tell(cargo, { messages: [] });
    const long = tell(cargo, { messages: ["a".repeat(70_000_000)] });
    await expect(long).rejects.toMatchObject({ code: "invalid_input", message: "The input is over 64 MiB" });
    await expect(tell(cargo, { messages: [finished(1), finished(3)] })).resolves.toEqual(RESULT);
    await expect(other).resolves.toEqual(RESULT);
  });
});

describe("a host process that works without output", () => {
  it("is heard by the run that it works on, and by those that wait for a place", async () => {
    await using cargo = await loadScripted();
    const heard: string[] = [];
    const run = (name: string, messages: unknown[]) =>
      cargo.run({ input: { messages }, resume: null }, () => {}, NEVER, { onWorking: () => heard.push(name) });
    const first = run("first", []);
    // Told with the second run, so that the third waits by then: the host runs two at once.
    const prompt = { kind: "prompt", run: 1, prompt: { total: 3, done: 3 } };
    const second = run("second", [{ kind: "working", run: 1 }, prompt, output(token), finished(2), finished(1)]);
    const third = run("third", [finished(3)]);
    await Promise.all([first, second, third]);
    expect(heard).toEqual(["first", "third", "first", "third", "third"]);
  });
});

describe("a Cargo whose runtime cannot resume", () => {
  it("refuses to go on after another's text, and asks nothing of its host", async () => {
    await using cargo = await loadScripted();
    const resume = { text: "Once", tokens: 1 };
    const running = cargo.run({ input: { messages: [null] }, resume }, () => {}, NEVER);
    await expect(running).rejects.toMatchObject({ code: "cannot_resume", retryable: false });
    await expect(tell(cargo, { messages: [finished(1)] })).resolves.toEqual(RESULT);
  });
});

describe("a host process that breaks the protocol", () => {
  /** Each costs a process. */
  const BROKEN: [string, unknown][] = [
    ["null", null],
    ["output of a run that it does not have", { kind: "output", outputs: [{ run: 99, items: [token] }] }],
    ["a number", 7],
    ["an unknown kind", { kind: "surprise" }],
    ["output of nothing", { kind: "output" }],
    ["output whose runs are no list", { kind: "output", outputs: { run: 1 } }],
    ["output whose run is null", { kind: "output", outputs: [null] }],
    ["output whose items are no list", { kind: "output", outputs: [{ run: 1, items: 3 }] }],
    ["an item of an unknown type", output({ type: "poem" })],
    ["an item whose text is a number", output({ ...token, content: 3 })],
    ["an item that counts less than nothing", output({ ...token, count: -1 })],
    ["the end of a run that it does not have", finished(99)],
    ["an end without memory", { ...finished(1), memory: null }],
    ["an end with a text for its memory", { ...finished(1), memory: { ...MEMORY, ramBytes: "much" } }],
    ["an end without a result", { ...finished(1), result: undefined }],
    ["a failure with an unknown code", { kind: "failed", run: 1, error: { code: "x", message: "", retryable: false } }],
    ["a failure without an error", { kind: "failed", run: 1 }],
    ["the stop of a run that was not aborted", { kind: "aborted", run: 1 }],
    ["a load that is over already", { kind: "loaded", memory: MEMORY, facts: {} }],
  ];

  it.each(BROKEN)("is killed for %s, and all its runs fail as retryable", async (_name, message) => {
    await using cargo = await loadScripted();
    const other = tell(cargo, {});
    // The other is run 1, of which the messages tell.
    const running = tell(cargo, { messages: [message] });
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
    ["what is not JSON", { raw: "{]\n" }],
    ["a message without end", { floodsChannel: true }],
  ])("is killed for %s", async (_name, word) => {
    await using cargo = await loadScripted();
    await expect(tell(cargo, word)).rejects.toMatchObject({ code: "runtime_crashed", retryable: true });
    await cargo.gone;
  });

  it("says nothing more: what follows a broken message is not heard", async () => {
    await using cargo = await loadScripted();
    await expect(tell(cargo, { messages: [null, finished(1)] })).rejects.toMatchObject({ code: "runtime_crashed" });
  });
});
